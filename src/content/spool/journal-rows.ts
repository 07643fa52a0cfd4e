// Rows of the journal and what they stand for, both ways. Columns are named as in `journal-migrations.ts`.

import { redact } from '../../redact.ts'
import type { Intention, IntentionKind } from '../intention.ts'

export type Row = Readonly<Record<string, string | number | Uint8Array | null>>

/** A local-only file: its own content, or a reference to a version the service still has. */
export interface ScratchRow {
  readonly path: string
  readonly spool: string | undefined
  readonly reference:
    | { readonly path: string; readonly fingerprint: string; readonly size: number | undefined }
    | undefined
}

/** Mode and times set here; they hold while the document's fingerprint is this one. */
export interface AttributeRow {
  readonly path: string
  readonly fingerprint: string
  readonly mode: number | undefined
  readonly atime: RowTime | undefined
  readonly mtime: RowTime | undefined
}

export interface RowTime {
  readonly sec: number
  readonly nsec: number
}

export function rowOfIntention(i: Intention): Row {
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
    in_doubt: Number(i.isInDoubt),
    doubts: JSON.stringify(i.doubts),
    proven: Number(i.isProven),
    not_before: i.notBefore,
    attempts: i.attempts,
    last_error: i.lastError ?? null,
    error_errno: i.errorErrno ?? null,
    refused: Number(i.isRefused),
    since: i.since,
  }
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
    // Whatever was on its way when the last run ended may have arrived.
    isInDoubt: true,
    doubts: JSON.parse(String(row['doubts'])) as Intention['doubts'],
    isProven: row['proven'] === 1,
    notBefore: Number(row['not_before']),
    attempts: Number(row['attempts']),
    triedForMs: 0,
    // An older docmount may have kept what the service echoed.
    lastError: lastError === undefined ? undefined : redact(lastError),
    errorErrno: text(row['error_errno']),
    isRefused: row['refused'] === 1,
    since: Number(row['since']),
  }
}

export function rowOfScratch({ path, spool, reference }: ScratchRow): Row {
  return {
    path,
    spool: spool ?? null,
    reference: reference?.path ?? null,
    reference_fingerprint: reference?.fingerprint ?? null,
    reference_size: reference?.size ?? null,
  }
}

export function scratchOf(row: Row): ScratchRow {
  const path = text(row['reference'])
  const reference =
    path === undefined
      ? undefined
      : { path, fingerprint: text(row['reference_fingerprint']) ?? '', size: number(row['reference_size']) }
  return { path: String(row['path']), spool: text(row['spool']), reference }
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
