// A folder of its own for one test file, gone afterwards.

import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { User } from './run.ts'

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

/** Makes `docmount-test-XXXXXX` in the system's folder for temporary files, which only its owner may enter. */
export async function makeTemporaryFolder(owner?: User): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'docmount-test-'))
  if (owner !== undefined) await chown(path, owner.uid, owner.gid)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
