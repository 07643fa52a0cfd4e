// Handlers of the control socket's commands.

import type { TablesAnswer } from './control-protocol.ts'
import type { ControlHandlers } from './control-server.ts'
import { DaemonError } from './daemon-error.ts'
import type { MountSession } from './mount-session.ts'
import { isAtOrUnder } from './path-inside.ts'
import { resolveConflict } from './resolve-conflict.ts'
import { restoreFormer } from './restore-former.ts'

/** Longest delay of a Node timer. */
const longestMs = 2 ** 31 - 1

/** Returns the handlers. Commands that come while the drive is starting wait for `session`. */
export function createControlHandlers(
  session: Promise<MountSession>,
  tables: (signal: AbortSignal) => Promise<TablesAnswer>,
): ControlHandlers {
  return {
    status: async ({ path }) => {
      const live = await session
      const { fileSystem } = live
      // The status of the drive lists conflict copies, which other clients may have deleted: their folders are listed anew.
      if (path === undefined) await fileSystem.lookAgain()
      const place = path === undefined ? undefined : await fileSystem.place(path)
      return { mount: live.status(), unsent: fileSystem.unsent(path ?? '/'), place }
    },
    explain: async ({ path }) => (await session).fileSystem.explain(path),
    report: async () => (await session).fileSystem.report(),
    folder: async ({ path, watch = false }, { signal, onProgress }) => {
      const { fileSystem, finished } = await session
      if (watch) {
        // Until the client closes the connection, or the drive ends.
        const ended = new AbortController()
        void finished.then(() => ended.abort())
        const until = AbortSignal.any([signal, ended.signal])
        await fileSystem.watchFolder(path, { signal: until, onChange: onProgress })
      }
      return fileSystem.folder(path)
    },
    wait: async ({ path, timeoutMs = longestMs }, { signal }) => {
      const { fileSystem } = await session
      await fileSystem.wait(path, { timeoutMs: Math.min(timeoutMs, longestMs), signal })
      return {}
    },
    link: async ({ path }) => (await session).fileSystem.link(path),
    refresh: async ({ path }) => {
      await (await session).fileSystem.refresh(path)
      return {}
    },
    resolve: async ({ path, keep }) => resolveConflict(await session, path, keep),
    dismissNames: async ({ path }) => ({ names: (await session).fileSystem.dismissNames(path) }),
    dismissDamage: async () => ({ files: (await session).fileSystem.dismissDamage() }),
    retry: async ({ path }) => ({ retried: (await session).fileSystem.retry(path) }),
    pause: async () => {
      ;(await session).fileSystem.pause()
      return {}
    },
    resume: async () => {
      ;(await session).fileSystem.resume()
      return {}
    },
    bwlimit: async ({ bytesPerSecond }) => {
      ;(await session).limit(bytesPerSecond)
      return {}
    },
    pin: async ({ path }, { signal }) => (await session).fileSystem.pin(path, { signal }),
    unpin: async ({ path }) => {
      ;(await session).fileSystem.unpin(path)
      return {}
    },
    free: async ({ path }, { signal }) => (await session).fileSystem.free(path, { signal }),
    pins: async () => ({ pins: (await session).fileSystem.pins() }),
    fetch: async ({ path }, context) => (await session).fileSystem.fetch(path, context),
    cache: async () => (await session).fileSystem.cache(),
    clearCache: async (input) => (await session).fileSystem.clearCache(input),
    tables: (_, { signal }) => tables(signal),
    former: async ({ path }) => {
      const { fileSystem } = await session
      return { former: await fileSystem.former(path), isOn: fileSystem.keepsFormer }
    },
    restore: async (request, { signal }) => restoreFormer(await session, request, signal),
    emptyUndo: async () => ({ bytes: await (await session).fileSystem.emptyUndo() }),
    recover: async ({ path, destination }) => {
      const { record, fileSystem } = await session
      checkOutside(record, destination)
      await fileSystem.recover(path, destination)
      return {}
    },
    recoverLost: async ({ destination }) => {
      const { record, fileSystem } = await session
      checkOutside(record, destination)
      return { files: await fileSystem.recoverLost(destination) }
    },
    unmount: async (input, { signal, onProgress }) => (await session).stop({ ...input, signal, onProgress }),
  }
}

/** Throws a DaemonError for a destination on the drive itself: the daemon would wait for its own answer. */
function checkOutside({ mountpoint }: { mountpoint: string }, destination: string): void {
  if (isAtOrUnder(destination, mountpoint))
    throw new DaemonError(`${destination} lies inside the drive; choose a place outside ${mountpoint}`)
}
