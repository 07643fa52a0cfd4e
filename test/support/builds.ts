// Where the run's tests keep what they compile once for all of them (`test/service/compiled-command.ts`): told to them by
// DOCMOUNT_TEST_BUILDS, gone with the run.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function makeBuilds(): void {
  // The configuration is also loaded by what starts a run within this one.
  if (process.env['DOCMOUNT_TEST_BUILDS'] !== undefined) return
  const folder = mkdtempSync(join(tmpdir(), 'docmount-builds-'))
  process.env['DOCMOUNT_TEST_BUILDS'] = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}
