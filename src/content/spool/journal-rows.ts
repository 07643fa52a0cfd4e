// Conversion between rows of the journal and the objects they stand for. Columns are named as in `journal-migrations.ts`.

import { createHash } from 'node:crypto'
import { parseJson } from '../../parse-json.ts'
import { redact } from '../../redact.ts'
import type { Intention, IntentionKind } from '../intention.ts'

export type Row = Readonly<Record<string, string | number | Uint8Array | null>>

/** A local-only file: its content in the spool, or a reference to a version that the service still has. */
export interface ScratchRow {
  readonly path: string
  readonly spool: string | undefined
  readonly reference:
    | { readonly path: string; readonly fingerprint: string; readonly size: number | undefined }
    | undefined
  /** It was created as temporary files are (O_EXCL, mode 0600), and so may be an unfinished document. */
  readonly isMadeTemporary?: boolean
  /** Its last writer was killed before it closed the file. */
  readonly isCutOff?: boolean
}

/** Mode and times set here; valid while the document has this fingerprint. */
export interface AttributeRow {
  readonly path: string
  readonly fingerprint: string
  readonly mode: number | undefined
  readonly atime: RowTime | undefined
  readonly mtime: RowTime | undefined
}

/** Another client's version that was kept beside ours, as a conflict copy. */
export interface ConflictRow {
  readonly path: string
  readonly copy: string
  /** Epoch ms. */
  readonly at: number
}

export interface RowTime {
  readonly sec: number
  readonly nsec: number
}

export function rowOfIntention(intention: Intention): Row {
  const row = plainRowOf(intention)
  return { ...row, seal: sealOf(row) }
}

/** Some columns have older names: `in_doubt` is `isOutcomeUnknown`, `doubts` the `sentDigests`, `proven` is `isCopied`. */
function plainRowOf(i: Intention): Row {
  return {
    id: i.id,
    kind: i.kind,
    path: i.path,
    spool: i.spool ?? null,
    size: i.size ?? null,
    digest: i.digest?.sha256 ?? null,
    source: i.source ?? null,
    source_fingerprint: i.sourceFingerprint ?? null,
    keep_source: Number(i.keepSource ?? false),
    base: i.base ?? null,
    in_doubt: Number(i.isOutcomeUnknown),
    doubts: JSON.stringify(i.sentDigests),
    proven: Number(i.isCopied),
    not_before: i.notBefore,
    attempts: i.attempts,
    last_error: i.lastError ?? null,
    error_errno: i.errorErrno ?? null,
    refused: Number(i.isRefused),
    since: i.since,
  }
}

/** Checksum of a row's values that are not null, so that columns may be added later; without the service's messages. */
function sealOf(row: Row): string {
  const sealed = Object.entries(row)
    .filter(([column, value]) => !unsealed.has(column) && value !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sealed)).digest('hex').slice(0, 16)
}

const unsealed: ReadonlySet<string> = new Set(['seal', 'last_error', '_metadata'])

/** False for a row that is not as it was written. Rows of older journals have no seal. */
export function isSealed(row: Row): boolean {
  const { kind, path, doubts, seal } = row as Record<string, unknown>
  if (!['put', 'delete', 'prune'].includes(String(kind)) || !String(path).startsWith('/')) return false
  if (!Array.isArray(parseJson(String(doubts)))) return false
  return seal === null || seal === undefined || seal === sealOf(row)
}

export function intentionOf(row: Row): Intention {
  const size = number(row['size'])
  const sha256 = text(row['digest'])
  const lastError = text(row['last_error'])
  return {
    id: Number(row['id']),
    kind: row['kind'] as IntentionKind,
    path: String(row['path']),
    spool: text(row['spool']),
    size,
    digest: sha256 === undefined || size === undefined ? undefined : { size, sha256 },
    source: text(row['source']),
    sourceFingerprint: text(row['source_fingerprint']),
    keepSource: row['keep_source'] === 1,
    base: text(row['base']),
    // A call under way when the last run ended may have been carried out.
    isOutcomeUnknown: true,
    sentDigests: JSON.parse(String(row['doubts'])) as Intention['sentDigests'],
    isCopied: row['proven'] === 1,
    notBefore: Number(row['not_before']),
    attempts: Number(row['attempts']),
    triedForMs: 0,
    sentBytes: 0,
    // An older docmount may have stored a message with a secret in it.
    lastError: lastError === undefined ? undefined : redact(lastError),
    errorErrno: text(row['error_errno']),
    isRefused: row['refused'] === 1,
    since: Number(row['since']),
  }
}

export function rowOfScratch({ path, spool, reference, isMadeTemporary, isCutOff }: ScratchRow): Row {
  return {
    path,
    spool: spool ?? null,
    reference: reference?.path ?? null,
    reference_fingerprint: reference?.fingerprint ?? null,
    reference_size: reference?.size ?? null,
    made_temporary: Number(isMadeTemporary === true),
    cut_off: Number(isCutOff === true),
  }
}

export function scratchOf(row: Row): ScratchRow {
  const path = text(row['reference'])
  const reference =
    path === undefined
      ? undefined
      : { path, fingerprint: text(row['reference_fingerprint']) ?? '', size: number(row['reference_size']) }
  return {
    path: String(row['path']),
    spool: text(row['spool']),
    reference,
    isMadeTemporary: row['made_temporary'] === 1,
    isCutOff: row['cut_off'] === 1,
  }
}

export function rowOfAttributes({ path, fingerprint, mode, atime, mtime }: AttributeRow): Row {
  return {
    path,
    fingerprint,
    mode: mode ?? null,
    atime_sec: atime?.sec ?? null,
    atime_nsec: atime?.nsec ?? null,
    mtime_sec: mtime?.sec ?? null,
    mtime_nsec: mtime?.nsec ?? null,
  }
}

export function attributesOfRow(row: Row): AttributeRow {
  return {
    path: String(row['path']),
    fingerprint: String(row['fingerprint']),
    mode: number(row['mode']),
    atime: time(row, 'atime'),
    mtime: time(row, 'mtime'),
  }
}

function time(row: Row, name: 'atime' | 'mtime'): RowTime | undefined {
  const sec = number(row[`${name}_sec`])
  return sec === undefined ? undefined : { sec, nsec: number(row[`${name}_nsec`]) ?? 0 }
}

function text(value: Row[string] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function number(value: Row[string] | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
