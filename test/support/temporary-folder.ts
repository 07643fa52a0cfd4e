// A folder of its own for one test file, gone afterwards.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

/** Makes `docmount-test-XXXXXX` in the system's folder for temporary files. */
export async function makeTemporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'docmount-test-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
