// Fingerprints, which tell one version of a remote document from another.

import type { RemoteFile } from '../api/types.ts'

/** One immutable content in the service: the key of blocks, page cache and conflict checks. */
export interface Version {
  /** Absolute path in the project. */
  readonly path: string
  readonly fingerprint: string
  /** Bytes; undefined while unknown (the interface makes `size` optional). */
  readonly size: number | undefined
}

type VersionFields = Pick<RemoteFile, 'size' | 'modifiedAt'>

/** Size and modified_at as the service sent them. Equal fingerprints mean the same content, as far as the interface promises. */
export function fingerprintOf(file: VersionFields): string {
  return `${file.size ?? '?'}@${file.modifiedAt ?? '?'}`
}

/** The fingerprint that stands for a version which exists but was never seen here: no record has it. */
export const unseen = '-@-'

/** True where both fingerprints are of one version. One of them may lack the size, because a listing need not give it. */
export function isSameVersion(one: string, other: string): boolean {
  if (one === other) return true
  const [at, otherAt] = [one.indexOf('@'), other.indexOf('@')]
  const isSizeUnknown = one.startsWith('?@') || other.startsWith('?@')
  return isSizeUnknown && one.slice(at) === other.slice(otherAt) && !one.endsWith('@?')
}

/** Returns the fingerprint that has the size, from two of the same version. */
export function fuller(one: string, other: string): string {
  return one.startsWith('?@') ? other : one
}

/** True where every field of the sparse record has the same value in the full one. Fields may be absent (interface, "File"). */
export function agrees(sparse: VersionFields, full: VersionFields): boolean {
  return (
    (sparse.size === undefined || sparse.size === full.size) &&
    (sparse.modifiedAt === undefined || sparse.modifiedAt === full.modifiedAt)
  )
}

/** False where a field of the record contradicts the fingerprint, so that the record is of another version. */
export function mayBe({ size, modifiedAt }: VersionFields, fingerprint: string): boolean {
  const at = fingerprint.indexOf('@')
  const agree = (value: string | number | undefined, known: string): boolean =>
    value === undefined || known === '?' || String(value) === known
  return agree(size, fingerprint.slice(0, at)) && agree(modifiedAt, fingerprint.slice(at + 1))
}

/** True where a version stored a moment later may get the same fingerprint, because its time is given in whole seconds. */
export function mayComeAgain(fingerprint: string | undefined): boolean {
  return fingerprint === undefined || !/\.0*[1-9]/.test(modifiedAtIn(fingerprint) ?? '')
}

/** The version at a path that has this fingerprint. */
export function versionOf(path: string, fingerprint: string): Version {
  const size = Number(fingerprint.slice(0, fingerprint.indexOf('@')))
  return { path, fingerprint, size: Number.isSafeInteger(size) ? size : undefined }
}

/** The time in a fingerprint, as the service sent it. */
export function modifiedAtIn(fingerprint: string): string | undefined {
  const time = fingerprint.slice(fingerprint.indexOf('@') + 1)
  return time === '?' || time === '' ? undefined : time
}

/** True where the record's version was stored after the fingerprint's. False where either has no time. */
export function isNewer({ modifiedAt }: Pick<RemoteFile, 'modifiedAt'>, fingerprint: string): boolean {
  return Date.parse(modifiedAt ?? '') > Date.parse(modifiedAtIn(fingerprint) ?? '')
}
