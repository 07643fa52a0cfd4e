// Status of a drive from its daemon's control socket, as `docmount status --json` prints it, but without starting a process:
// tests poll it.

import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { ask } from '../../src/daemon/control-client.ts'
import type { MountStatus } from '../../src/daemon/control-protocol.ts'
import type { MountRecord } from '../../src/daemon/mount-record.ts'
import { waitUntil } from './wait-until.ts'

/** Waits for the daemon's record in the home at `folder`, which has one drive, and returns the path of its control socket. */
export async function socketOf(folder: string): Promise<string> {
  const records = join(folder, 'run', 'docmount')
  const name = await waitUntil('the daemon to tell of itself', async () =>
    (await readdir(records).catch(() => [])).find((file) => file.endsWith('.json')),
  )
  return (JSON.parse(await readFile(join(records, name), 'utf8')) as MountRecord).socketPath
}

/** Returns the drive's status. Throws if the daemon does not answer. */
export async function statusOf(socketPath: string): Promise<MountStatus> {
  return (await ask(socketPath, 'status', {})).mount
}
