// The calls of src/world/disk.ts on a platter, for one life: what is asked through the thread pool takes its time, and is
// never answered once the life is over.

import * as fs from 'node:fs'
import { basename } from 'node:path'
import type { Disk, OpenFile } from '../../src/world/disk.ts'
import type { EventQueue, Life } from './events.ts'
import type { JournalFiles } from './journal-files.ts'
import { diskError, type EndSync, FileBytes, type Platter } from './platter.ts'

/** Descriptors of this disk are none of the system's. */
const firstDescriptor = 1_000_000

interface Descriptor {
  /** Undefined for a folder. */
  readonly file: FileBytes | undefined
  readonly path: string
}

const isDatabase = (path: string): boolean => /^(journal|lock|listings)\.db/.test(basename(path))

export function simulatedDisk(options: {
  readonly platter: Platter
  readonly events: EventQueue
  readonly life: Life
  readonly journal: JournalFiles
  /** The beginning of its paths. */
  readonly root: string
}): Disk {
  const { platter, events, life, journal, root } = options
  const open = new Map<number, Descriptor>()
  const logs = new Set<number>()
  let lastDescriptor = firstDescriptor

  const at = (path: string): string => {
    if (life.isOver) throw diskError('EIO', 'the machine is off')
    if (!path.startsWith(root)) throw new Error(`${path} is not on the simulated disk`)
    return path.slice(root.length)
  }
  const fileOf = (fd: number): FileBytes => {
    if (life.isOver) throw diskError('EIO', 'the machine is off')
    const file = open.get(fd)?.file
    if (file === undefined) throw diskError('EBADF', String(fd))
    return file
  }
  const find = (path: string): FileBytes => {
    const file = platter.names.get(at(path))
    if (file === undefined) throw diskError('ENOENT', path)
    return file
  }
  const namesIn = (path: string): string[] => {
    const folder = `${at(path)}/`
    const names = new Set<string>()
    for (const name of platter.names.keys())
      if (name.startsWith(folder)) names.add(name.slice(folder.length).split('/')[0] as string)
    return [...names].sort()
  }
  const isFolder = (path: string): boolean => namesIn(path).length > 0
  const numbers = new WeakMap<FileBytes, number>()
  let lastNumber = 0
  const numberOf = (file: FileBytes): number => {
    const number = numbers.get(file) ?? ++lastNumber
    numbers.set(file, number)
    return number
  }
  const statOf = (file: FileBytes): ReturnType<Disk['statSync']> => ({
    dev: 1,
    ino: numberOf(file),
    size: file.data.length,
    blocks: Math.ceil(file.data.length / 512),
    mtimeMs: 0,
  })
  const opened = (path: string, flags: string): number => {
    const name = at(path)
    let file = platter.names.get(name)
    if (file === undefined && flags.startsWith('r')) {
      // A folder of no files is one all the same.
      if (flags === 'r' && !/\.[a-z-]+$/.test(name) && !name.includes('/spool/'))
        return described(undefined, name)
      throw diskError('ENOENT', path)
    }
    if (file !== undefined && flags.startsWith('wx')) throw diskError('EEXIST', path)
    if (flags.startsWith('w')) {
      platter.mayWrite()
      if (file === undefined) platter.set(name, (file = new FileBytes()))
      else file.truncate(0)
    }
    return described(file, name)
  }
  const described = (file: FileBytes | undefined, path: string): number => {
    open.set(++lastDescriptor, { file, path })
    return lastDescriptor
  }
  const readNow = (
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number => {
    if (logs.has(fd)) return fs.readSync(fd, buffer, offset, length, position)
    const part = fileOf(fd).data.subarray(position, position + length)
    buffer.set(part, offset)
    return part.length
  }
  const writeNow = (fd: number, bytes: Uint8Array, position: number): number => {
    platter.mayWrite()
    if (logs.has(fd)) {
      journal.writtenAgain(position, position + bytes.length)
      return fs.writeSync(fd, bytes, 0, bytes.length, position)
    }
    fileOf(fd).write(position, bytes)
    return bytes.length
  }
  /** Through the thread pool: done, and answered, a little later. */
  const later = <T>(work: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      events.after(platter.latencyMs(), () => {
        if (life.isOver) return
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      })
    })
  const ended = (end: EndSync): void => {
    try {
      platter.mayWrite(true)
    } catch (error) {
      end(false)
      throw error
    }
    end(true)
  }
  const sync = (begin: () => EndSync): Promise<void> => {
    const end = begin()
    return later(() => ended(end))
  }
  const syncOf = (fd: number): EndSync => {
    if (logs.has(fd)) return journal.beginSync()
    const { file, path } = open.get(fd) ?? { path: '' }
    if (file !== undefined) return file.beginSync()
    return platter.beginFolderSync(path)
  }
  const writevNow = (fd: number, pieces: readonly Uint8Array[], position: number): number =>
    writeNow(fd, Buffer.concat(pieces), position)

  const disk: Disk = {
    openSync(path, flags, mode) {
      if (!isDatabase(path)) return opened(path, flags)
      const fd = fs.openSync(path, flags, mode)
      logs.add(fd)
      life.atEnd.push(() => {
        if (logs.delete(fd)) fs.closeSync(fd)
      })
      return fd
    },
    closeSync(fd) {
      if (logs.delete(fd)) fs.closeSync(fd)
      else open.delete(fd)
    },
    readSync: readNow,
    writeSync: (fd, bytes, offset, length, position) =>
      writeNow(fd, bytes.subarray(offset, offset + length), position),
    fstatSync: (fd) => statOf(fileOf(fd)),
    fsyncSync(fd) {
      ended(syncOf(fd))
    },
    existsSync: (path) => platter.names.has(at(path)) || isFolder(path),
    statSync: (path) => statOf(find(path)),
    statfsSync: () => ({ bavail: 2 ** 20, bsize: 4096, blocks: 2 ** 20 }),
    readdirSync: namesIn,
    readFileSync: (path) => find(path).data.toString('utf8'),
    writeFileSync(path, data) {
      const fd = opened(path, 'w')
      try {
        writeNow(fd, Buffer.from(data as Uint8Array), 0)
      } finally {
        open.delete(fd)
      }
    },
    mkdirSync() {},
    chmodSync() {},
    renameSync: (from, to) => platter.rename(at(from), at(to)),
    unlinkSync: (path) => platter.remove(at(path)),

    read: (fd, buffer, offset, length, position) =>
      later(() => ({ bytesRead: readNow(fd, buffer, offset, length, position) })),
    write: (fd, bytes, offset, length, position) =>
      later(() => ({ bytesWritten: writeNow(fd, bytes.subarray(offset, offset + length), position) })),
    writev: (fd, pieces, position) => later(() => ({ bytesWritten: writevNow(fd, pieces, position) })),
    ftruncate: (fd, size) =>
      later(() => {
        platter.mayWrite()
        fileOf(fd).truncate(size)
      }),
    fdatasync: (fd) => sync(() => syncOf(fd)),
    open: (path, flags) => later(() => openFile(opened(path, flags))),
    openPastPages: (path) => later(() => openFile(opened(path, 'r+'))),
    stat: (path) => later(() => statOf(find(path))),
    statfs: () => later(() => ({ bavail: 2 ** 20, bsize: 4096, blocks: 2 ** 20 })),
    readdir: (path) => later(() => namesIn(path)),
    mkdir: () => later(() => undefined),
    rename: (from, to) => later(() => platter.rename(at(from), at(to))),
    unlink: (path) => later(() => platter.remove(at(path))),
    rmdir: () => later(() => undefined),
    copyFile: (from, to) =>
      later(() => {
        platter.mayWrite()
        const copy = new FileBytes()
        copy.write(0, find(from).data)
        platter.set(at(to), copy)
      }),
  }

  const openFile = (fd: number): OpenFile => ({
    fd,
    read: (buffer, offset, length, position) => disk.read(fd, buffer, offset, length, position),
    writev: (pieces, position) => disk.writev(fd, pieces, position ?? fileOf(fd).data.length),
    utimes: () => later(() => undefined),
    sync: () => disk.fdatasync(fd),
    close: () =>
      later(() => {
        open.delete(fd)
      }),
  })
  return disk
}
