// Paths of Unix sockets: Linux allows 107 bytes (sockaddr_un), and a deep runtime folder may be longer.

import { closeSync, constants, openSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const maxSocketPathBytes = 107

export interface SocketPath extends Disposable {
  /** Path of the same socket for bind(2) and connect(2). Valid until disposed. */
  readonly path: string
}

/** Returns a path that is short enough; a longer one goes through an open descriptor of its folder. */
export function openSocketPath(path: string): SocketPath {
  if (Buffer.byteLength(path) <= maxSocketPathBytes) return { path, [Symbol.dispose]() {} }
  const fd = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    path: join('/proc/self/fd', String(fd), basename(path)),
    [Symbol.dispose]() {
      closeSync(fd)
    },
  }
}
