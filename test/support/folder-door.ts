// The door to a folder on disk: a plain one (the oracle) or a mountpoint. The agent's process makes every call.

import type { Agent } from './agent.ts'
import type { Calls, Door, DoorName, OpenFile, OpenMode, Stat } from './door.ts'
import type { User } from './run.ts'

/** A door with a path that other programs can open. */
export interface FolderDoor extends Door {
  /** Its path on disk. */
  readonly root: string
  /** The user that may enter it; undefined: the test's user. */
  readonly user?: User | undefined
}

/** Returns the calls for the folder `root`. */
export function folderDoor(
  name: DoorName,
  root: string,
  agent: Agent,
): Calls & Pick<FolderDoor, 'name' | 'root'> {
  const at = (path: string): string => root + path
  return {
    name,
    root,
    open: async (path, flags, mode = 0o644) => openedFile(agent, at(path), flags, mode),
    readFile: (path) => agent.call('readFile', at(path)),
    writeFile: (path, data) => agent.call('writeFile', at(path), data),
    appendFile: (path, data) => agent.call('appendFile', at(path), data),
    stat: (path) => agent.call('stat', at(path)),
    statfs: () => agent.call('statfs', root),
    readdir: (path) => agent.call('readdir', at(path)),
    async syncFolder(path) {
      const folder = await openedFile(agent, at(path), 'r', 0)
      try {
        await folder.sync()
      } finally {
        await folder.close()
      }
    },
    mkdir: (path) => agent.call('mkdir', at(path)),
    rmdir: (path) => agent.call('rmdir', at(path)),
    unlink: (path) => agent.call('unlink', at(path)),
    rename: (from, to) => agent.call('rename', at(from), at(to)),
    truncate: (path, size) => agent.call('truncate', at(path), size),
    chmod: (path, mode) => agent.call('chmod', at(path), mode),
    utimes: (path, atimeSec, mtimeSec) => agent.call('utimes', at(path), atimeSec, mtimeSec),
    link: (path, newPath) => agent.call('link', at(path), at(newPath)),
    symlink: (target, path) => agent.call('symlink', target, at(path)),
  }
}

async function openedFile(agent: Agent, path: string, flags: OpenMode, mode: number): Promise<OpenFile> {
  const id = await agent.call<number>('open', path, flags, mode)
  return {
    read: (length, position) => agent.call('read', id, length, position),
    async write(data, position) {
      const bytes = Buffer.from(data as Uint8Array)
      const written = await agent.call<number>('write', id, bytes, position)
      if (written !== bytes.length) throw new Error(`${path}: ${written} of ${bytes.length} bytes written`)
    },
    stat: () => agent.call<Stat>('fstat', id),
    truncate: (size) => agent.call('ftruncate', id, size),
    sync: () => agent.call('fsync', id),
    close: () => agent.call('close', id),
  }
}
