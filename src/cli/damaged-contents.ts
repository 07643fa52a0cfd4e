// Report about documents whose content was damaged in the service already when it was backed up or moved.

import type { Manifest } from '../service/backup/manifest.ts'
import { exitCodes } from './exit-codes.ts'
import { printable } from '../printable.ts'

/** Names the damaged documents on stderr, and sets the exit code to failure. No `kept_sha256`: nothing of it could be read. */
export function reportDamaged({ damaged = [] }: Pick<Manifest, 'damaged'>): void {
  if (damaged.length === 0) return
  const lines = damaged.flatMap(({ documents, kept_sha256: kept }) =>
    documents.map((name) => `  ${printable(name)}${kept === undefined ? ' (cannot be read)' : ''}`),
  )
  console.error(
    `docmount: the content of these documents is damaged in the service; everything else is whole:\n${lines.join('\n')}\nStore them again, or take them from an older backup.`,
  )
  process.exitCode = exitCodes.failure
}
