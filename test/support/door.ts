// A door is one way to reach a filesystem: a plain folder, a mounted drive, or the filesystem object itself. All have the same
// interface, like node:fs/promises, so that one suite tests all of them. Paths are absolute inside the door: `/a/b.txt`.

import type { Behind } from './behind.ts'

/** `oracle`: a plain folder. `kernel-user`: the kernel driver as an ordinary user; the others run as the test's user. */
export type DoorName = 'oracle' | 'object' | 'kernel' | 'kernel-user' | 'fuse-native' | 'davfs2'

export interface Stat {
  readonly kind: 'file' | 'folder' | 'other'
  readonly size: number
  /** Permission bits only. */
  readonly mode: number
  readonly ino: number
  readonly nlink: number
  readonly atimeNs: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** The flags of node:fs/promises that the suite uses. */
export type OpenMode = 'r' | 'r+' | 'w' | 'w+' | 'wx' | 'wx+' | 'a' | 'a+'

export interface OpenFile {
  /** Reads `length` bytes, fewer only at the end of the file. */
  read(length: number, position: number): Promise<Buffer>
  /** Writes all of `data`; the position is ignored in append mode. */
  write(data: string | Uint8Array, position: number): Promise<void>
  stat(): Promise<Stat>
  truncate(size: number): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/** One way to reach a filesystem. Errors have `code`, as Node's own. */
export interface Door extends Calls {
  readonly name: DoorName
  readonly behind: Behind
}

/** The calls of a door. */
export interface Calls {
  open(path: string, flags: OpenMode, mode?: number): Promise<OpenFile>
  readFile(path: string): Promise<Buffer>
  writeFile(path: string, data: string | Uint8Array): Promise<void>
  appendFile(path: string, data: string | Uint8Array): Promise<void>
  stat(path: string): Promise<Stat>
  statfs(): Promise<{ readonly sizeBytes: number; readonly freeBytes: number }>
  readdir(path: string): Promise<string[]>
  /** fsync(2) of a folder. */
  syncFolder(path: string): Promise<void>
  mkdir(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  unlink(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  truncate(path: string, size: number): Promise<void>
  chmod(path: string, mode: number): Promise<void>
  /** Seconds since 1970, with fractions. */
  utimes(path: string, atimeSec: number, mtimeSec: number): Promise<void>
  link(path: string, newPath: string): Promise<void>
  symlink(target: string, path: string): Promise<void>
}

/** Returns every file below a folder as `relative path → content`, and every folder as `relative path/ → undefined`. */
export async function treeOf(door: Door, folder: string): Promise<Map<string, Buffer | undefined>> {
  const tree = new Map<string, Buffer | undefined>()
  async function walk(path: string, prefix: string): Promise<void> {
    for (const name of (await door.readdir(path)).sort()) {
      const child = `${path}/${name}`
      const { kind } = await door.stat(child)
      if (kind === 'folder') {
        tree.set(`${prefix}${name}/`, undefined)
        await walk(child, `${prefix}${name}/`)
      } else {
        tree.set(`${prefix}${name}`, await door.readFile(child))
      }
    }
  }
  await walk(folder, '')
  return tree
}
