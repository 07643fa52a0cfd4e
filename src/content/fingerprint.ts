// Tells one version of a remote document from another.

import type { RemoteFile } from '../api/types.ts'

/** One immutable content in the service: what blocks, page cache and conflict checks are keyed by. */
export interface Version {
  /** Absolute path in the project. */
  readonly path: string
  readonly fingerprint: string
  /** Bytes; undefined while the service has not told it (interface: `size` is optional). */
  readonly size: number | undefined
}

type Told = Pick<RemoteFile, 'size' | 'modifiedAt'>

/** Size and modified_at as the service sent them: equal fingerprints mean the same content, as far as the interface tells. */
export function fingerprintOf(file: Told): string {
  return `${file.size ?? '?'}@${file.modifiedAt ?? '?'}`
}

/** Of a version that is there and that nobody here has seen: no record is of it. */
export const unseen = '-@-'

/** True where both are of one version: a listing need not tell its size. */
export function isSameVersion(one: string, other: string): boolean {
  if (one === other) return true
  const [at, otherAt] = [one.indexOf('@'), other.indexOf('@')]
  const isSizeUntold = one.startsWith('?@') || other.startsWith('?@')
  return isSizeUntold && one.slice(at) === other.slice(otherAt) && !one.endsWith('@?')
}

/** Of two of one version the one that tells its size. */
export function fuller(one: string, other: string): string {
  return one.startsWith('?@') ? other : one
}

/** True where everything the one record tells, the other tells too: fields may be absent (interface, "File"). */
export function agrees(sparse: Told, full: Told): boolean {
  return (
    (sparse.size === undefined || sparse.size === full.size) &&
    (sparse.modifiedAt === undefined || sparse.modifiedAt === full.modifiedAt)
  )
}

/** False where the record tells that it is of another version. */
export function mayBe({ size, modifiedAt }: Told, fingerprint: string): boolean {
  const at = fingerprint.indexOf('@')
  const agree = (told: string | number | undefined, known: string): boolean =>
    told === undefined || known === '?' || String(told) === known
  return agree(size, fingerprint.slice(0, at)) && agree(modifiedAt, fingerprint.slice(at + 1))
}

/** True where what is stored a moment later may get the same fingerprint: the service tells time by the second, as far as is known. */
export function mayComeAgain(fingerprint: string | undefined): boolean {
  return fingerprint === undefined || !/\.0*[1-9]/.test(modifiedAtIn(fingerprint) ?? '')
}

/** The version of which a fingerprint was taken. */
export function versionOf(path: string, fingerprint: string): Version {
  const size = Number(fingerprint.slice(0, fingerprint.indexOf('@')))
  return { path, fingerprint, size: Number.isSafeInteger(size) ? size : undefined }
}

/** The time in a fingerprint, as the service sent it. */
export function modifiedAtIn(fingerprint: string): string | undefined {
  const time = fingerprint.slice(fingerprint.indexOf('@') + 1)
  return time === '?' || time === '' ? undefined : time
}

/** True where the record is of a version stored after that one. False where either has no time. */
export function isNewer({ modifiedAt }: Pick<RemoteFile, 'modifiedAt'>, fingerprint: string): boolean {
  return Date.parse(modifiedAt ?? '') > Date.parse(modifiedAtIn(fingerprint) ?? '')
}
