// The record and the control socket of a live drive lie in a folder that others may take away: a system does so with the
// runtime folder of a user whose last session ends, while a drive lives on. They are made again as soon as that can be; and so,
// by the same quiet look, is what the drive keeps in its state folder.

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { Log } from '../log.ts'
import type { ControlServer } from './control-server.ts'
import { type MountRecord, recordFile, writeMountRecord } from './mount-record.ts'

const lookMs = 5_000

/** Answers how to stop. */
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
    work ??= makeAgain().finally(() => (work = undefined))
  }, lookMs).unref()

  async function makeAgain(): Promise<void> {
    try {
      await mkdir(runtimeDir, { recursive: true, mode: 0o700 })
      await server.listenAgain()
      await writeMountRecord(runtimeDir, record)
      log.warn({ runtimeDir }, 'the control socket was taken away: it is there again')
    } catch {
      // The folder comes with the user's next session.
    }
  }

  return async () => {
    clearInterval(timer)
    await work
  }
}
