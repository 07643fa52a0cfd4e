// Ways in which programs save a document, call by call, as recorded from the real programs. editor-saves.ts in
// test/behaviour/suite counts the requests of each.

import type { Calls, OpenMode } from './door.ts'

export interface SavePattern {
  readonly name: string
  readonly save: (calls: Calls, path: string, content: string) => Promise<void>
}

async function put(calls: Calls, path: string, content: string, mode: OpenMode = 'w'): Promise<void> {
  const file = await calls.open(path, mode)
  await file.write(content, 0)
  await file.close()
}

function beside(path: string, name: string): string {
  return `${path.slice(0, path.lastIndexOf('/') + 1)}${name}`
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export const savePatterns: readonly SavePattern[] = [
  { name: '>', save: (calls, path, content) => put(calls, path, content) },
  {
    name: 'cp over: stat, open to write, cut',
    async save(calls, path, content) {
      await calls.stat(path)
      await put(calls, path, content)
    },
  },
  {
    name: 'in place: all of it written over, then cut',
    async save(calls, path, content) {
      const file = await calls.open(path, 'r+')
      await file.write(content, 0)
      await file.truncate(content.length)
      await file.close()
    },
  },
  {
    name: 'in place: made longer, then all of it written over',
    async save(calls, path, content) {
      const file = await calls.open(path, 'r+')
      await file.truncate(100)
      await file.write(content, 0)
      await file.truncate(content.length)
      await file.close()
    },
  },
  {
    name: 'in place: cut, then written',
    async save(calls, path, content) {
      const file = await calls.open(path, 'r+')
      await file.truncate(0)
      await file.write(content, 0)
      await file.close()
    },
  },
  {
    name: 'GIO (gedit): probe, temporary file, rename over',
    async save(calls, path, content) {
      const probe = await calls.open(path, 'r+')
      await put(calls, beside(path, '.goutputstream-X7A2K3'), content)
      await probe.close()
      await calls.rename(beside(path, '.goutputstream-X7A2K3'), path)
    },
  },
  {
    name: 'GIO with backup: rename to the backup, rename the new one in',
    async save(calls, path, content) {
      await put(calls, beside(path, '.goutputstream-B1C2D3'), content)
      await calls.rename(path, `${path}~`)
      await calls.rename(beside(path, '.goutputstream-B1C2D3'), path)
      await calls.unlink(`${path}~`)
    },
  },
  {
    name: 'LibreOffice: lock, luNNNN.tmp, rename over',
    async save(calls, path, content) {
      const lock = beside(path, `.~lock.${nameIn(path)}#`)
      await put(calls, lock, ',user,host,today;')
      const opened = await calls.open(path, 'r+')
      await put(calls, beside(path, 'lu1234abcd.tmp'), content)
      await opened.close()
      await calls.rename(beside(path, 'lu1234abcd.tmp'), path)
      await calls.unlink(lock)
    },
  },
  {
    name: 'KDE: .part, unlink, rename',
    async save(calls, path, content) {
      await put(calls, `${path}.part`, content)
      await calls.unlink(path)
      await calls.rename(`${path}.part`, path)
    },
  },
  {
    name: 'unlink, then a new file',
    async save(calls, path, content) {
      await calls.unlink(path)
      await put(calls, path, content)
    },
  },
  {
    name: 'vim: backup by rename, new file, backup deleted',
    async save(calls, path, content) {
      await put(calls, beside(path, `.${nameIn(path)}.swp`), 'swap', 'wx')
      await calls.rename(path, `${path}~`)
      const file = await calls.open(path, 'w')
      await file.write(content, 0)
      await file.sync()
      await file.close()
      await calls.unlink(`${path}~`)
      await calls.unlink(beside(path, `.${nameIn(path)}.swp`))
    },
  },
  {
    name: 'MS Office: document to temporary, temporary to document',
    async save(calls, path, content) {
      await put(calls, beside(path, '5A3B19C0.tmp'), content)
      await calls.rename(path, beside(path, '7F2E8D41.tmp'))
      await calls.rename(beside(path, '5A3B19C0.tmp'), path)
      await calls.unlink(beside(path, '7F2E8D41.tmp'))
    },
  },
  {
    name: 'a stored document renamed over it',
    async save(calls, path, content) {
      await put(calls, beside(path, 'draft.txt'), content)
      await calls.rename(beside(path, 'draft.txt'), path)
    },
  },
]
