// Live folders: programs that watch a folder of the drive (inotify) hear of other clients' changes. The kernel reports only changes
// that are made through the mount. So the watched folders are listed again once per cache lifetime, and each change that a listing
// shows (a `Finding`) is replayed: a child process makes the call that would have caused it (replay.ts).
// Why so: docs/decisions/live-folders.md.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FileSystem } from '../../fs/contract.ts'
import type { Finding, Operations, Watcher } from '../../fs/operations.ts'
import type { Mounted } from '../../fuse/driver.ts'
import type { MountLine } from '../../fuse/mountinfo.ts'
import type { Log } from '../../log.ts'
import { failures, Replay, stepsOf, type Step } from './replay.ts'
import { withReplay } from './replayed-calls.ts'
import { watchedNodes } from './watched-nodes.ts'

/** Most folders that are listed again in one cache lifetime; of more, those that were listed longest ago. */
const mostFolders = 32
/** Most changed names of a folder that are replayed. Of more, only one event for the folder itself is. */
const mostNames = 1_000
/** Shortest time between two rounds. */
const shortestMs = 1_000
/** Most replays of a change. One fails if a program looked the name up just before, so that the kernel has its new state cached. */
const mostTries = 3
/** Longest wait for a child that was killed. */
const killedWithinMs = 2_000

export class LiveFolders implements Watcher {
  /** Operations for the driver: the filesystem's, but calls of a replay are only answered. */
  readonly operations: Operations
  readonly #fileSystem: FileSystem
  readonly #log: Log
  /** Watched folders of the latest round, by inode number, with the time they were last listed for it (ms, `performance.now`). */
  #watched = new Map<number, number>()
  /** Changes still to be replayed, by folder (inode number), then by kind of change and name. */
  readonly #found = new Map<number, Map<string, Finding>>()
  #replay: Replay | undefined
  #isReplaying = false
  /** True from an attempt to unmount until the next round. */
  #isResting = false
  readonly #ending = new AbortController()
  #mounted: Mounted | undefined
  #hasWarned = false

  constructor(fileSystem: FileSystem, log: Log) {
    this.#fileSystem = fileSystem
    this.#log = log
    this.operations = withReplay(fileSystem, () => this.#replay)
  }

  /** Starts the rounds, which end with the mount. Returns the mount with an `unmount` that ends a running replay first. */
  attend(mounted: Mounted): Mounted {
    const { line } = mounted
    if (line === undefined) return mounted
    this.#mounted = mounted
    void this.#serve(line, this.#fileSystem.attachWatcher(this))
    void mounted.closed.then(() => {
      this.#ending.abort()
      return this.#rest()
    })
    return {
      ...mounted,
      unmount: async (options) => {
        await this.#rest()
        return mounted.unmount(options)
      },
    }
  }

  /** The tree reports changes of watched folders only. */
  watches(folder: number): boolean {
    return this.#watched.has(folder)
  }

  /** Called by the tree after a new listing of a watched folder. A later change of a name replaces one of the same kind. */
  found(folder: number, findings: readonly Finding[]): void {
    if (findings.length === 0) return
    const all = this.#found.get(folder) ?? new Map<string, Finding>()
    for (const finding of findings) all.set(`${finding.what} ${finding.name}`, finding)
    this.#found.set(folder, all)
    void this.#replayFound()
  }

  /** Ends the running replay, and starts none before the next round: a child inside would keep the mount busy. */
  async #rest(): Promise<void> {
    this.#isResting = true
    this.#replay?.kill()
    await Promise.race([this.#replay?.ended, sleep(killedWithinMs, undefined, { ref: false })])
  }

  async #serve(line: MountLine, cacheTtlMs: number): Promise<void> {
    const { signal } = this.#ending
    // No program watches a folder of a drive that has just been mounted, and looking through all processes takes a while.
    let begunAt = performance.now()
    for (;;) {
      const leftMs = Math.max(shortestMs, cacheTtlMs) - (performance.now() - begunAt)
      await sleep(leftMs, undefined, { ref: false, signal }).catch(() => {})
      if (signal.aborted) return
      begunAt = performance.now()
      this.#isResting = false
      await this.#round(line).catch((error: unknown) =>
        this.#log.warn({ error }, 'folders that are watched could not be asked for'),
      )
    }
  }

  async #round({ device }: MountLine): Promise<void> {
    const folders = new Set<number>()
    for (const ino of await watchedNodes(device)) {
      // A watched document counts as its folder, whose listing shows the document's changes.
      const folder = this.#fileSystem.folderAt(ino)
      if (folder !== undefined) folders.add(folder.ino)
    }
    this.#watched = new Map([...folders].map((ino) => [ino, this.#watched.get(ino) ?? -Infinity]))
    void this.#replayFound()
    const byTurn = [...this.#watched].sort(([, one], [, other]) => one - other)
    for (const [ino] of byTurn.slice(0, mostFolders)) {
      if (this.#ending.signal.aborted) return
      this.#watched.set(ino, performance.now())
      await this.#fileSystem.listAnew(ino)
    }
  }

  async #replayFound(): Promise<void> {
    if (this.#isReplaying) return
    this.#isReplaying = true
    try {
      while (!this.#isResting) {
        const [next] = this.#found
        if (next === undefined) return
        const [folder, findings] = next
        // The kernel must have dropped its cached names first, or the replayed calls would not reach the drive.
        await this.#mounted?.notifier.heard()
        this.#found.delete(folder)
        for (const step of stepsOf([...findings.values()], mostNames)) {
          if (this.#isResting) return
          await this.#run(folder, step)
        }
      }
    } catch (error) {
      this.#log.warn({ error }, 'programs that watch a folder were not told of all changes')
    } finally {
      this.#isReplaying = false
    }
  }

  /** Replays a step, and its missed findings again up to `mostTries` times. */
  async #run(folder: number, step: Step): Promise<void> {
    const { notifier } = this.#mounted ?? {}
    let missed = await this.#replayOnce(folder, step)
    for (let tries = 1; tries < mostTries && missed.length > 0 && !this.#isResting; tries++) {
      for (const { name } of missed) notifier?.entryChanged(folder, name)
      await notifier?.heard()
      const again: Finding[] = []
      for (const repeated of stepsOf(missed, mostNames))
        again.push(...(await this.#replayOnce(folder, repeated)))
      missed = again
    }
  }

  /** Returns the findings that were not replayed: the kernel had the names cached as they are now, and did not ask the drive. */
  async #replayOnce(folder: number, step: Step): Promise<readonly Finding[]> {
    const at = this.#fileSystem.folderAt(folder)
    const mountpoint = this.#mounted?.line?.mountpoint
    if (at?.ino !== folder || mountpoint === undefined) return []
    const replay = new Replay(folder, mountpoint + at.path, step)
    this.#replay = replay
    const code = await replay.ended
    this.#replay = undefined
    this.#mounted?.notifier.entryChanged(folder, replay.token)
    // Null: the child was killed, or could not be started. It is not repeated.
    const failure = failures.get(code)
    if (failure === undefined) return code === null ? [] : replay.missed
    if (!this.#hasWarned)
      this.#log.warn({ mountpoint }, `programs that watch a folder were not told of a change: ${failure}`)
    this.#hasWarned = true
    return []
  }
}
