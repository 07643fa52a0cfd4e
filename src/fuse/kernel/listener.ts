// Reads requests from /dev/fuse. Node has no public way to poll a character device, so its descriptor is put into libuv's
// epoll through the handle type of local sockets; where that fails, two thread-pool readers do it.

import { close, read } from 'node:fs'
import { Socket } from 'node:net'
import type { Log } from '../../log.ts'

export interface ListenerEvents {
  /** Returns the buffer for the next request. */
  buffer(): Buffer
  /** Called when a request of `length` bytes was read into the buffer that `buffer` returned last. */
  received(length: number): void
  /** Called when the connection has ended (ENODEV): no request comes, and nothing can be sent. */
  ended(): void
  /** Called before the descriptor is closed. Resolves when it may be: its number may then be another file's. */
  beforeClose(): Promise<void>
}

export interface Listener {
  /** Resolves when the descriptor is closed. */
  readonly closed: Promise<void>
  close(): void
}

/** Node's internal handle of a local socket; it polls any descriptor. */
interface PipeHandle {
  open(fd: number): number
  close(callback?: () => void): void
}

type PipeConstructor = new (type: number) => PipeHandle

/** `PipeConstants.SOCKET` of libuv's wrapper. */
const socketType = 0

export function listen(fd: number, events: ListenerEvents, log: Log): Listener {
  const Pipe = findPipe()
  if (Pipe !== undefined) {
    const handle = new Pipe(socketType)
    if (handle.open(fd) === 0) return listenByEpoll(handle, events)
  }
  log.warn({}, 'this Node cannot poll /dev/fuse: reading it through the thread pool, which is slower')
  return listenByPool(fd, events)
}

/** Returns Node's class of such handles, found on a socket that never connects: `process.binding` is deprecated. */
function findPipe(): PipeConstructor | undefined {
  const socket = new Socket()
  // The connection fails by design.
  socket.on('error', () => {})
  socket.connect({ path: '/dev/null/no-socket' })
  const handle = Reflect.get(socket, '_handle') as object | null | undefined
  const constructor = handle?.constructor as PipeConstructor | undefined
  socket.destroy()
  return typeof constructor?.prototype.open === 'function' ? constructor : undefined
}

function listenByEpoll(handle: PipeHandle, events: ListenerEvents): Listener {
  const closeHandle = handle.close.bind(handle)
  handle.close = (whenClosed) => void events.beforeClose().then(() => closeHandle(whenClosed))
  let current: Buffer | undefined
  const options = {
    handle,
    readable: true,
    writable: false,
    allowHalfOpen: true,
    onread: {
      // `undefined` keeps the current buffer, which saves a call into libuv per request.
      buffer() {
        const next = events.buffer()
        if (next === current) return undefined
        current = next
        return next
      },
      callback(length: number) {
        events.received(length)
        return true
      },
    },
  }
  const socket = new Socket(options)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => events.ended())
  socket.on('end', () => socket.destroy())
  socket.read(0)
  return {
    closed,
    close() {
      socket.destroy()
    },
  }
}

/** Two, so that even the smallest useful thread pool (3) keeps a thread for other work. */
const poolReaders = 2

function listenByPool(fd: number, events: ListenerEvents): Listener {
  let isClosing = false
  const readers = Array.from({ length: poolReaders }, () => readRequests())
  const closed = Promise.all(readers)
    .then(() => events.beforeClose())
    .then(() => new Promise<void>((resolve) => close(fd, () => resolve())))

  async function readRequests(): Promise<void> {
    const own = Buffer.allocUnsafeSlow(events.buffer().length)
    for (;;) {
      const outcome = await new Promise<number | NodeJS.ErrnoException>((resolve) => {
        read(fd, own, 0, own.length, null, (error, length) => resolve(error ?? length))
      })
      if (typeof outcome === 'number') {
        own.copy(events.buffer(), 0, 0, outcome)
        events.received(outcome)
      } else if (!isTransient(outcome)) {
        break
      }
      if (isClosing) break
    }
    isClosing = true
    events.ended()
  }

  return {
    closed,
    close() {
      isClosing = true
    },
  }
}

/** True for a signal, for nothing to read, and for a request that was aborted while it was read: read again. */
function isTransient(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EINTR' || error.code === 'EAGAIN' || error.code === 'ENOENT'
}
