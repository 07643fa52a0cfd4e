// The versions whose blocks a new handle joins, by version and by path, so that a save finds those of its path quickly.
// After a save, older handles keep blocks that are not here.

import type { Version } from '../fingerprint.ts'
import type { VersionBlocks } from './version-blocks.ts'

export class SharedBlocks {
  readonly #byVersion = new Map<string, VersionBlocks>()
  readonly #byPath = new Map<string, Set<VersionBlocks>>()

  get(version: Version): VersionBlocks | undefined {
    return this.#byVersion.get(keyOf(version))
  }

  /** The blocks of every version of the document at this path. */
  at(path: string): readonly VersionBlocks[] {
    return [...(this.#byPath.get(path) ?? [])]
  }

  /** Adds blocks, in place of others of the same version. */
  set(blocks: VersionBlocks): void {
    const { version } = blocks
    const before = this.get(version)
    if (before !== undefined) this.delete(before)
    this.#byVersion.set(keyOf(version), blocks)
    const atPath = this.#byPath.get(version.path) ?? new Set()
    this.#byPath.set(version.path, atPath.add(blocks))
  }

  /** Removes these blocks, but no others of the same version. To be called before they move to another path. */
  delete(blocks: VersionBlocks): void {
    const { version } = blocks
    if (this.get(version) !== blocks) return
    this.#byVersion.delete(keyOf(version))
    const atPath = this.#byPath.get(version.path)
    atPath?.delete(blocks)
    if (atPath?.size === 0) this.#byPath.delete(version.path)
  }
}

const keyOf = ({ path, fingerprint }: Version): string => `${path}\0${fingerprint}`
