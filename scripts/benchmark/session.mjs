// Measurement of one group of workloads on one peer: its mounts, times, and the costs of its daemon.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { costsOf, dropCaches } from './machine.mjs'
import { run } from './processes.mjs'

let editions = 0

export class Session {
  /** Seconds by row, or a text if it failed or took too long. */
  results = {}
  /** Processor seconds of the peer's daemon, by row, from the start of the row's program. */
  processor = {}
  costs = { peakBytes: 0 }
  #context
  #mounted
  #timedAt = 0
  #cpuAt = 0
  #hasFailed = false

  /** `context`: peer, server, folder, mountpoint, flavour, label, data, shape, round, limitSeconds, log. */
  constructor(context) {
    this.#context = context
    this.shape = context.shape
    this.round = context.round
    this.folder = context.folder
  }

  at(path) {
    return join(this.#context.mountpoint, path)
  }

  source(path) {
    return join(this.#context.data.source, path)
  }

  freshName(name) {
    return `${name}-${++editions}`
  }

  nextEdition() {
    return ++editions
  }

  /** Mounts with empty caches of peer and kernel. The server's files are in memory. */
  async mount() {
    const { peer, folder } = this.#context
    await mkdir(folder, { recursive: true })
    await peer.emptyCache(folder)
    await this.#mountCold()
  }

  /** Mounts again, with the peer's own cache but an empty cache of the kernel. */
  async remount() {
    await this.close()
    await this.#mountCold()
  }

  /** Runs and measures one program; its output is discarded. */
  async time(row, command, args, { mayFindNothing = false } = {}) {
    if (this.#hasFailed) return this.#record(row, 'not reached')
    const { limitSeconds } = this.#context
    this.#timedAt = performance.now()
    this.#cpuAt = this.#cpuNow()
    const { code, seconds, complaints } = await run(command, args, { limitSeconds })
    if (code === 0 || (mayFindNothing && code === 1)) return this.#record(row, seconds)
    this.#hasFailed = true
    const isLate = code === 124 || code === 137
    this.#record(row, isLate ? `> ${limitSeconds} s` : `failed: ${complaints.trim().slice(0, 200)}`)
  }

  /** Runs and measures `reader.mjs`. */
  async timeReader(row, pattern, path, count = 0, threads = 1) {
    const args = [pattern, this.at(path), count, this.round, threads].map(String)
    await this.time(row, process.execPath, [programOf('reader.mjs'), ...args])
  }

  /** Measures from the last program's start until the server has `count` files of `sizeBytes`; at most twice the time limit. */
  async stored(row, folder, count, sizeBytes, name) {
    if (this.#hasFailed) return this.#record(row, 'not reached')
    const limitSeconds = 2 * this.#context.limitSeconds
    for (;;) {
      const sizes = await this.#context.server.holds(`/${folder}`)
      const arrived = name === undefined ? [...sizes.values()] : [sizes.get(name)]
      const seconds = (performance.now() - this.#timedAt) / 1000
      if (arrived.filter((size) => size === sizeBytes).length >= count) return this.#record(row, seconds)
      if (seconds > limitSeconds) {
        this.#hasFailed = true
        return this.#record(row, `> ${limitSeconds} s`)
      }
      await sleep(20)
    }
  }

  /** Runs a program without measuring it. */
  async tidy(command, args) {
    if (!this.#hasFailed) await run(command, args, { limitSeconds: this.#context.limitSeconds })
  }

  /** Unmounts; safe to call at any time. */
  async close() {
    const mounted = this.#mounted
    if (mounted === undefined) return
    this.#mounted = undefined
    this.costs.peakBytes = Math.max(this.costs.peakBytes, costsOf(mounted.pids()).peakBytes)
    await mounted.unmount()
  }

  #record(row, value) {
    const { label, log } = this.#context
    this.results[row] = value
    if (typeof value === 'number') this.processor[row] = this.#cpuNow() - this.#cpuAt
    log(`${label.padEnd(22)} ${row.padEnd(20)} ${typeof value === 'string' ? value : value.toFixed(3)}`)
  }

  #cpuNow() {
    return this.#mounted === undefined ? 0 : costsOf(this.#mounted.pids()).cpuSeconds
  }

  async #mountCold() {
    const { peer, server, folder, mountpoint, flavour } = this.#context
    await dropCaches()
    await server.warm()
    this.#mounted = await peer.mount({ mountpoint, folder, server, flavour })
  }
}

/** Returns the path of a program in this folder. */
export function programOf(name) {
  return new URL(name, import.meta.url).pathname
}
