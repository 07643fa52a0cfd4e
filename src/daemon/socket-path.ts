// Unix socket paths end at 107 bytes on Linux (sockaddr_un), shorter than a deep runtime folder may be.

import { closeSync, constants, openSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const maxSocketPathBytes = 107

export interface SocketPath extends Disposable {
  /** For bind(2) and connect(2); names the same socket. Valid until disposed. */
  readonly path: string
}

/** A longer path is reached through an open descriptor of its folder. */
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
