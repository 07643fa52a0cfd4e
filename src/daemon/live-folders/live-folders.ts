// Live folders: programs that watch a folder of the drive hear of other clients' changes. Once a cache lifetime the folders that
// are watched are listed anew; what the listings tell is replayed in front of the kernel.
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

/** Folders that are listed anew in one cache lifetime: of more, those whose turn was longest ago. */
const mostFolders = 32
/** Names of a folder that one listing's changes are told of. Beyond it, an event tells of the folder alone. */
const mostNames = 1_000
/** Shortest time between two rounds. */
const shortestMs = 1_000
/** How often a change is replayed that a program's look keeps from happening. */
const mostTries = 3
/** Longest wait for a child that was killed. */
const killedWithinMs = 2_000

export class LiveFolders implements Watcher {
  /** For the driver: the filesystem's, which know a replay. */
  readonly operations: Operations
  readonly #fileSystem: FileSystem
  readonly #log: Log
  /** Folders that were watched in this round, with the time they were listed for it (ms, `performance.now`). */
  #watched = new Map<number, number>()
  /** Changes to be replayed, by folder and name. */
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

  /** Begins the rounds, which end with the mount. Returns it with an `unmount` that no replay keeps busy. */
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

  watches(folder: number): boolean {
    return this.#watched.has(folder)
  }

  found(folder: number, findings: readonly Finding[]): void {
    if (findings.length === 0) return
    const all = this.#found.get(folder) ?? new Map<string, Finding>()
    for (const finding of findings) all.set(`${finding.what} ${finding.name}`, finding)
    this.#found.set(folder, all)
    void this.#replayFound()
  }

  /** No child uses the mount, nor will before the next round. */
  async #rest(): Promise<void> {
    this.#isResting = true
    this.#replay?.kill()
    await Promise.race([this.#replay?.ended, sleep(killedWithinMs, undefined, { ref: false })])
  }

  async #serve(line: MountLine, cacheTtlMs: number): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      const begunAt = performance.now()
      this.#isResting = false
      await this.#round(line).catch((error: unknown) =>
        this.#log.warn({ error }, 'folders that are watched could not be asked for'),
      )
      const leftMs = Math.max(shortestMs, cacheTtlMs) - (performance.now() - begunAt)
      await sleep(leftMs, undefined, { ref: false, signal }).catch(() => {})
    }
  }

  async #round({ device }: MountLine): Promise<void> {
    const folders = new Set<number>()
    for (const ino of await watchedNodes(device)) {
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
        // The kernel lets go of what it knew of the names first.
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

  /** Returns the findings that the kernel did not let happen, since a program had looked their names up as they are now. */
  async #replayOnce(folder: number, step: Step): Promise<readonly Finding[]> {
    const at = this.#fileSystem.folderAt(folder)
    const mountpoint = this.#mounted?.line?.mountpoint
    if (at?.ino !== folder || mountpoint === undefined) return []
    const replay = new Replay(folder, mountpoint + at.path, step)
    this.#replay = replay
    const code = await replay.ended
    this.#replay = undefined
    this.#mounted?.notifier.entryChanged(folder, replay.token)
    const failure = failures.get(code)
    if (failure === undefined) return code === null ? [] : replay.missed
    if (!this.#hasWarned)
      this.#log.warn({ mountpoint }, `programs that watch a folder were not told of a change: ${failure}`)
    this.#hasWarned = true
    return []
  }
}
