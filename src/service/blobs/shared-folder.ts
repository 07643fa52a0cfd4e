// Blobs as files of a folder that several nodes have mounted: as in `disk.ts`, but with random names (keys), and unpublished
// files of other nodes are removed only when they are old.

import { randomBytes } from 'node:crypto'
import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { lostUpload, type BlobWriter, type SharedBackend, type StagedBlob } from './backend.ts'
import { type DiskBackend, DiskStagedBlob, incomingName, isMissing, openFolder } from './disk.ts'

const keyBytes = 32

export async function openSharedFolder(folder: string): Promise<SharedBackend> {
  return new SharedFolder(folder, await openFolder(folder))
}

class SharedFolder implements SharedBackend {
  readonly #folder: string
  readonly #disk: DiskBackend

  constructor(folder: string, disk: DiskBackend) {
    this.#folder = folder
    this.#disk = disk
  }

  stage(): BlobWriter {
    return this.#disk.stage()
  }

  async publish(staged: StagedBlob): Promise<string> {
    if (!(staged instanceof DiskStagedBlob)) throw new TypeError('staged by another backend')
    const key = randomBytes(keyBytes).toString('hex')
    try {
      await this.#disk.publish(new DiskStagedBlob(staged.file, key, staged.size, staged.begunMs))
    } catch (error) {
      throw isMissing(error) ? lostUpload() : error
    }
    return key
  }

  read(key: string, start: number, end: number): Promise<Buffer | undefined> {
    return this.#disk.read(key, start, end)
  }

  stream(key: string, start: number, end: number): Readable | undefined {
    return this.#disk.stream(key, start, end)
  }

  remove(key: string): void {
    this.#disk.remove(key)
  }

  async *listBefore(time: number): AsyncGenerator<string[]> {
    for (const keys of this.#disk.list()) {
      const old: string[] = []
      for (const key of keys) if (await isOlder(join(this.#folder, key.slice(0, 2), key), time)) old.push(key)
      yield old
    }
  }

  async dropStaged(before: number): Promise<void> {
    const incoming = join(this.#folder, incomingName)
    for (const name of await readdir(incoming)) {
      const file = join(incoming, name)
      if (await isOlder(file, before)) await unlink(file).catch(ignoreMissing)
    }
  }
}

async function isOlder(file: string, time: number): Promise<boolean> {
  const { mtimeMs } = (await stat(file).catch(ignoreMissing)) ?? { mtimeMs: Infinity }
  return mtimeMs < time
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
