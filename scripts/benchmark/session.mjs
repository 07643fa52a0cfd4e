// One group of workloads on one peer: its mounts, its clock, and what its daemon cost.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { dropCaches } from './mounts.mjs'
import { run, sleep } from './processes.mjs'
import { costsOf } from './resources.mjs'

let editions = 0

export class Session {
  /** Seconds by row; a string where there is no number. */
  results = {}
  /** Seconds of the peer's processor by row, from the start of its program. */
  processor = {}
  costs = { peakBytes: 0, cpuSeconds: 0 }
  #context
  #mounted
  #timedAt = 0
  #cpuAt = 0
  #hasFailed = false

  /** `context`: peer, server, folder, flavour, data, shape, round, limitSeconds, log. */
  constructor(context) {
    this.#context = context
    this.mountpoint = join(context.folder, 'mount')
  }

  get peer() {
    return this.#context.peer
  }
  get shape() {
    return this.#context.shape
  }
  get round() {
    return this.#context.round
  }
  get folder() {
    return this.#context.folder
  }

  at(path) {
    return join(this.mountpoint, path)
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

  /** Mounts with nothing cached: not by the peer, not by the kernel. Files of the server are in memory. */
  async mount() {
    const { peer, folder } = this.#context
    await mkdir(folder, { recursive: true })
    await peer.emptyCache(folder)
    await this.#mountWith({ isCold: true })
  }

  /** The peer's own cache is kept. */
  async remount() {
    await this.#end()
    await this.#mountWith({ isCold: true })
  }

  /** Measures one program. Its output goes nowhere. */
  async time(row, command, args, { mayFindNothing = false } = {}) {
    if (this.#hasFailed) {
      this.results[row] = 'not reached'
      return
    }
    const { limitSeconds, log } = this.#context
    this.#timedAt = performance.now()
    this.#cpuAt = this.#cpuNow()
    const { code, seconds, complaints } = await run(command, args, { limitSeconds })
    if (code === 0 || (mayFindNothing && code === 1)) {
      this.results[row] = seconds
      this.processor[row] = this.#cpuNow() - this.#cpuAt
    } else {
      this.#hasFailed = true
      this.results[row] =
        code === 124 || code === 137 ? `> ${limitSeconds} s` : `failed: ${complaints.trim().slice(0, 200)}`
    }
    log(
      `${this.#context.label.padEnd(22)} ${row.padEnd(20)} ${typeof this.results[row] === 'string' ? this.results[row] : seconds.toFixed(3)}`,
    )
  }

  /** Measures from the start of the last program until the server holds `count` files of that size, for twice the limit at most. */
  async stored(row, folder, count, sizeBytes, name) {
    if (this.#hasFailed) {
      this.results[row] = 'not reached'
      return
    }
    const { server, log } = this.#context
    const limitSeconds = 2 * this.#context.limitSeconds
    if (server.holds === undefined) return
    for (;;) {
      const sizes = await server.holds(`/${folder}`)
      const arrived = name === undefined ? [...sizes.values()] : [sizes.get(name)]
      const seconds = (performance.now() - this.#timedAt) / 1000
      if (arrived.filter((size) => size === sizeBytes).length >= count) {
        this.results[row] = seconds
        this.processor[row] = this.#cpuNow() - this.#cpuAt
        log(`${this.#context.label.padEnd(22)} ${row.padEnd(20)} ${seconds.toFixed(3)}`)
        return
      }
      if (seconds > limitSeconds) {
        this.#hasFailed = true
        this.results[row] = `> ${limitSeconds} s`
        return
      }
      await sleep(20)
    }
  }

  /** Something that has to happen and is not measured. */
  async tidy(command, args) {
    if (!this.#hasFailed) await run(command, args, { limitSeconds: this.#context.limitSeconds })
  }

  /** Unmounts; safe to call at any time. */
  async close() {
    await this.#end()
  }

  #cpuNow() {
    return this.#mounted === undefined ? 0 : costsOf(this.#mounted.pids()).cpuSeconds
  }

  async #mountWith() {
    const { peer, server, folder, flavour } = this.#context
    await dropCaches()
    await warmPrograms()
    await server.warm?.()
    this.#mounted = await peer.mount({ mountpoint: this.mountpoint, folder, server, flavour })
    if (this.#mounted.mountpoint !== undefined) this.mountpoint = this.#mounted.mountpoint
    this.cpuBefore = costsOf(this.#mounted.pids()).cpuSeconds
  }

  async #end() {
    const mounted = this.#mounted
    if (mounted === undefined) return
    this.#mounted = undefined
    const { peakBytes, cpuSeconds } = costsOf(mounted.pids())
    this.costs.peakBytes = Math.max(this.costs.peakBytes, peakBytes)
    this.costs.cpuSeconds += cpuSeconds - this.cpuBefore
    await mounted.unmount()
  }
}

/** The measured programs themselves are not read from the disk on the clock. */
async function warmPrograms() {
  const warm =
    'ls -lR /proc/self/fd; head -c 1 /etc/hostname; grep -rc x /etc/hostname; dd if=/dev/null of=/dev/null; cp --version; rm --version; timeout 1 true; "$1" -e 0'
  await run('sh', ['-c', `{ ${warm}; } > /dev/null 2>&1`, 'sh', process.execPath])
}
