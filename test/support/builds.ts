// The folder for builds that all test files of a run share (`built-once.ts`). Its path is in
// DOCMOUNT_TEST_BUILDS; it is removed at the end of the run.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function makeBuilds(): void {
  // Set already in a run that a test of this run starts.
  if (process.env['DOCMOUNT_TEST_BUILDS'] !== undefined) return
  const folder = mkdtempSync(join(tmpdir(), 'docmount-builds-'))
  // Ordinary users run programs of it.
  chmodSync(folder, 0o755)
  process.env['DOCMOUNT_TEST_BUILDS'] = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}
