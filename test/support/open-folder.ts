// An open folder, and operations on the names in it, as the kernel sends them for openat(2), renameat(2) and so on. It stays
// valid when it is renamed.

import { rootIno, type Attributes, type Caller, type Operations } from '../../src/fs/operations.ts'
import type { OpenFile } from './door.ts'
import { failure, flagsOf, namesIn, openedFile, thisProcess, translating } from './object-file.ts'

export interface OpenFolder {
  readonly ino: number
  openFolder(name: string): Promise<OpenFolder>
  open(name: string, mode: 'r' | 'w'): Promise<OpenFile>
  /** Returns the size in bytes; undefined for a folder. */
  sizeOf(name: string): Promise<number | undefined>
  names(): Promise<string[]>
  mkdir(name: string): Promise<void>
  rmdir(name: string): Promise<void>
  unlink(name: string): Promise<void>
  rename(name: string, to: Pick<OpenFolder, 'ino'>, newName: string): Promise<void>
  close(): Promise<void>
}

/** Opens the drive's root. */
export function openRoot(operations: Operations): OpenFolder {
  operations.remember(rootIno)
  return openedFolder(operations, thisProcess(), rootIno)
}

/** Returns an open folder, which owns one lookup reference on its node; `close` gives it back. */
function openedFolder(operations: Operations, caller: Caller, ino: number): OpenFolder {
  /** Looks a name up and runs `use` with it; the lookup's reference is given back afterwards. */
  const withChild = async <T>(name: string, use: (child: Attributes) => Promise<T>): Promise<T> => {
    const { attributes } = await operations.lookup(ino, name, caller)
    if (attributes === undefined) throw failure('ENOENT', name)
    try {
      return await use(attributes)
    } finally {
      operations.forget(attributes.ino, 1)
    }
  }
  /** Runs `use` while holding references on these names, because the kernel looks names up before it removes or renames them. */
  const withNames = async (
    names: readonly (readonly [folder: number, name: string])[],
    use: () => Promise<void>,
  ): Promise<void> => {
    const found: number[] = []
    try {
      for (const [folder, name] of names) {
        const { attributes } = await operations.lookup(folder, name, caller)
        if (attributes !== undefined) found.push(attributes.ino)
      }
      await use()
    } finally {
      for (const child of found) operations.forget(child, 1)
    }
  }
  const open = async (name: string, mode: 'r' | 'w'): Promise<OpenFile> => {
    const flags = flagsOf(mode)
    const { attributes } = await operations.lookup(ino, name, caller)
    if (attributes === undefined && mode === 'w') {
      const options = { mode: 0o644, flags, exclusive: false }
      const { entry, opened } = await operations.create(ino, name, options, caller)
      return openedFile(operations, caller, { ino: entry.attributes.ino, fh: opened.fh, flags, mode })
    }
    if (attributes === undefined) throw failure('ENOENT', name)
    const child = attributes.ino
    try {
      if (attributes.kind === 'folder') throw failure('EISDIR', name)
      const { fh } = await operations.open(child, flags, caller)
      return openedFile(operations, caller, { ino: child, fh, flags, mode })
    } catch (error) {
      operations.forget(child, 1)
      throw error
    }
  }
  return {
    ino,
    openFolder: (name) =>
      translating(() =>
        withChild(name, async (child) => {
          if (child.kind !== 'folder') throw failure('ENOTDIR', name)
          operations.remember(child.ino)
          return openedFolder(operations, caller, child.ino)
        }),
      ),
    open: (name, mode) => translating(() => open(name, mode)),
    sizeOf: (name) =>
      translating(() => withChild(name, async ({ kind, size }) => (kind === 'folder' ? undefined : size))),
    names: () => translating(() => namesIn(operations, caller, ino)),
    mkdir: (name) =>
      translating(async () => {
        const { attributes } = await operations.mkdir(ino, name, 0o755, caller)
        operations.forget(attributes.ino, 1)
      }),
    rmdir: (name) =>
      translating(() => withNames([[ino, name]], async () => operations.rmdir(ino, name, caller))),
    unlink: (name) =>
      translating(() => withNames([[ino, name]], async () => operations.unlink(ino, name, caller))),
    rename: (name, to, newName) =>
      translating(() =>
        withNames(
          [
            [ino, name],
            [to.ino, newName],
          ],
          async () => {
            const flags = { noReplace: false, exchange: false }
            await operations.rename(ino, name, to.ino, newName, flags, caller)
          },
        ),
      ),
    close: () => translating(async () => operations.forget(ino, 1)),
  }
}
