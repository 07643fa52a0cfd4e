// A process that makes filesystem calls for a test, so that a drive that hangs does not hang the test: after a time limit the
// test kills this process and goes on. Started by `agent.ts`.

import fs from 'node:fs/promises'
import { constants } from 'node:os'

/** Open files by the id that the test uses for them. */
const openFiles = new Map()
let lastFile = 0

function file(id) {
  const handle = openFiles.get(id)
  if (handle === undefined) throw Object.assign(new Error('EBADF: not open'), { code: 'EBADF' })
  return handle
}

function described(stat) {
  return {
    kind: stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other',
    size: Number(stat.size),
    mode: Number(stat.mode & 0o7777n),
    ino: Number(stat.ino),
    nlink: Number(stat.nlink),
    atimeNs: stat.atimeNs,
    mtimeNs: stat.mtimeNs,
    ctimeNs: stat.ctimeNs,
  }
}

const calls = {
  async open(path, flags, mode) {
    const handle = await fs.open(path, flags, mode)
    openFiles.set(++lastFile, handle)
    return lastFile
  },
  async close(id) {
    const handle = file(id)
    openFiles.delete(id)
    await handle.close()
  },
  async read(id, length, position) {
    const buffer = Buffer.alloc(length)
    const { bytesRead } = await file(id).read(buffer, 0, length, position)
    return buffer.subarray(0, bytesRead)
  },
  async write(id, data, position) {
    const { bytesWritten } = await file(id).write(data, 0, data.length, position)
    return bytesWritten
  },
  fstat: async (id) => described(await file(id).stat({ bigint: true })),
  ftruncate: (id, size) => file(id).truncate(size),
  fsync: (id) => file(id).sync(),
  stat: async (path) => described(await fs.stat(path, { bigint: true })),
  async statfs(path) {
    const { bsize, blocks, bavail } = await fs.statfs(path)
    return { sizeBytes: bsize * blocks, freeBytes: bsize * bavail }
  },
  readFile: (path) => fs.readFile(path),
  writeFile: (path, data) => fs.writeFile(path, data),
  appendFile: (path, data) => fs.appendFile(path, data),
  readdir: (path) => fs.readdir(path),
  mkdir: (path) => fs.mkdir(path),
  rmdir: (path) => fs.rmdir(path),
  unlink: (path) => fs.unlink(path),
  rename: (from, to) => fs.rename(from, to),
  truncate: (path, size) => fs.truncate(path, size),
  chmod: (path, mode) => fs.chmod(path, mode),
  utimes: (path, atimeSec, mtimeSec) => fs.utimes(path, atimeSec, mtimeSec),
  link: (path, newPath) => fs.link(path, newPath),
  symlink: (target, path) => fs.symlink(target, path),
}

/** Returns the errno's POSIX name: libuv names EOPNOTSUPP ENOTSUP, and has no name for ESTALE. */
function posixName({ code, errno }) {
  if (code === 'ENOTSUP') return 'EOPNOTSUPP'
  return errno === -constants.errno.ESTALE ? 'ESTALE' : code
}

async function answer({ id, call, args }) {
  try {
    process.send({ id, value: await calls[call](...args) })
  } catch (error) {
    process.send({ id, error: { code: posixName(error), message: error.message } })
  }
}

process.on('message', (request) => void answer(request))
process.on('disconnect', () => process.exit(0))
