// Restores the record and the control socket of a live drive when they are removed: systemd removes a user's runtime folder at
// the end of the last session, and a drive may live on. The same timer checks the state folder.

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { Log } from '../log.ts'
import type { ControlServer } from './control-server.ts'
import { type MountRecord, recordFile, writeMountRecord } from './mount-record.ts'

const checkIntervalMs = 5_000

/** Starts the checks. Returns a function that stops them. `checkStateDir` is called at each check. */
export function republishSocket(
  { runtimeDir, record }: { runtimeDir: string; record: MountRecord },
  server: Pick<ControlServer, 'listenAgain'>,
  log: Log,
  checkStateDir: () => void,
): () => Promise<void> {
  let work: Promise<void> | undefined
  const timer = setInterval(() => {
    checkStateDir()
    if (existsSync(record.socketPath) && existsSync(recordFile(runtimeDir, record.id))) return
    work ??= recreate().finally(() => (work = undefined))
  }, checkIntervalMs).unref()

  async function recreate(): Promise<void> {
    try {
      await mkdir(runtimeDir, { recursive: true, mode: 0o700 })
      await server.listenAgain()
      await writeMountRecord(runtimeDir, record)
      log.warn({ runtimeDir }, 'the control socket was taken away: it is there again')
    } catch {
      // The folder is created with the user's next session.
    }
  }

  return async () => {
    clearInterval(timer)
    await work
  }
}
