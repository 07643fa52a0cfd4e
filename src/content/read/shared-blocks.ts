// The versions whose blocks a new reader joins, by version and by path: a save forgets its path's, and looks at no others.

import type { Version } from '../fingerprint.ts'
import type { VersionBlocks } from './version-blocks.ts'

export class SharedBlocks {
  readonly #byVersion = new Map<string, VersionBlocks>()
  readonly #byPath = new Map<string, Set<VersionBlocks>>()

  get(version: Version): VersionBlocks | undefined {
    return this.#byVersion.get(keyOf(version))
  }

  /** Of every version of the document at this path. */
  at(path: string): readonly VersionBlocks[] {
    return [...(this.#byPath.get(path) ?? [])]
  }

  /** In place of what was shared of this version. */
  set(blocks: VersionBlocks): void {
    const { version } = blocks
    const before = this.get(version)
    if (before !== undefined) this.delete(before)
    this.#byVersion.set(keyOf(version), blocks)
    const beside = this.#byPath.get(version.path) ?? new Set()
    this.#byPath.set(version.path, beside.add(blocks))
  }

  /** Does nothing where others are shared of its version. To be called before it moves to another path. */
  delete(blocks: VersionBlocks): void {
    const { version } = blocks
    if (this.get(version) !== blocks) return
    this.#byVersion.delete(keyOf(version))
    const beside = this.#byPath.get(version.path)
    beside?.delete(blocks)
    if (beside?.size === 0) this.#byPath.delete(version.path)
  }
}

const keyOf = ({ path, fingerprint }: Version): string => `${path}\0${fingerprint}`
