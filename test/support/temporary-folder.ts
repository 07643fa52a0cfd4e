// Temporary folders for tests.

import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { User } from './run.ts'

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

/** Makes `docmount-test-XXXXXX` (mode 0700) in the system's folder for temporary files. Default owner: the test's user. */
export async function makeTemporaryFolder(owner?: User): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'docmount-test-'))
  if (owner !== undefined) await chown(path, owner.uid, owner.gid)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
