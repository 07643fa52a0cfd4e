// The connections for downloads from any host without a proxy, by origin.

import {
  DownloadLane,
  type DownloadRequest,
  type DownloadResponse,
  type LaneOptions,
} from './download-lane.ts'
import { LanePool } from './lane-pool.ts'

export class DirectDownloads {
  readonly #maxLanes: number
  readonly #options: Omit<LaneOptions, 'sessions'>
  readonly #sessions = new Map<string, Buffer>()
  readonly #pools = new Map<string, LanePool<DownloadLane>>()

  /** `maxLanes`: most connections to one host. */
  constructor(maxLanes: number, options: Omit<LaneOptions, 'sessions'>) {
    this.#maxLanes = maxLanes
    this.#options = options
  }

  /** See `DownloadLane.get`. */
  async get(request: DownloadRequest & { readonly origin: string }): Promise<DownloadResponse> {
    const pool = this.#poolOf(request.origin)
    const lane = await pool.acquire(request.signal)
    return lane.get(request, () => pool.giveBack(lane))
  }

  /** See Connections. */
  renew(): void {
    for (const pool of this.#pools.values()) pool.renew()
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
  }

  #poolOf(origin: string): LanePool<DownloadLane> {
    const known = this.#pools.get(origin)
    if (known !== undefined) return known
    const options = { ...this.#options, sessions: this.#sessions }
    const pool = new LanePool(this.#maxLanes, () => new DownloadLane(origin, options))
    this.#pools.set(origin, pool)
    return pool
  }
}
