// Status of a drive, asked at its daemon's control socket: what `docmount status --json` prints, without a process of
// Node for each question. Tests wait by asking again and again.

import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { ask } from '../../src/daemon/control-client.ts'
import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import type { MountRecord } from '../../src/daemon/mount-record.ts'
import { waitUntil } from './wait-until.ts'

/** The control socket of the only drive of the home at `folder`, as soon as its daemon has told of it. */
export async function socketOf(folder: string): Promise<string> {
  const records = join(folder, 'run', 'docmount')
  const name = await waitUntil('the daemon to tell of itself', async () =>
    (await readdir(records).catch(() => [])).find((file) => file.endsWith('.json')),
  )
  return (JSON.parse(await readFile(join(records, name), 'utf8')) as MountRecord).socketPath
}

/** Throws where the daemon does not answer. */
export async function statusOf(socketPath: string): Promise<MountStatus> {
  return (await ask(socketPath, 'status', {})).mount
}
