// How requests are read from /dev/fuse: its descriptor in libuv's epoll, through the handle type of local sockets. Node
// has no public way to poll a character device; where this one is gone, two thread-pool readers take over.

import { close, read } from 'node:fs'
import { Socket } from 'node:net'
import type { Log } from '../../log.ts'

export interface ListenerEvents {
  /** Where the next request goes. */
  buffer(): Buffer
  /** A request of `length` bytes lies in the buffer last asked for. */
  received(length: number): void
  /** The kernel has let go (ENODEV): nothing comes any more, and nothing can be sent. */
  ended(): void
  /** Work that must be over before the descriptor's number may be given to another file. */
  beforeClose(): Promise<void>
}

export interface Listener {
  /** Resolves when the descriptor is closed. */
  readonly closed: Promise<void>
  close(): void
}

/** Node's internal handle of a local socket; it polls whatever descriptor it is given. */
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

/** A socket that never connects shows the constructor of its handle, without the deprecated `process.binding`. */
function findPipe(): PipeConstructor | undefined {
  const socket = new Socket()
  // The connection fails by design; nobody needs to hear of it.
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
      // Answering no buffer keeps the one there is, which saves a call into libuv per request.
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

/** Two readers, so that one thread of the pool is left to everybody else even at its smallest useful size. */
const poolReaders = 2

function listenByPool(fd: number, events: ListenerEvents): Listener {
  let isClosing = false
  const readers = Array.from({ length: poolReaders }, () => readOn())
  const closed = Promise.all(readers)
    .then(() => events.beforeClose())
    .then(() => new Promise<void>((resolve) => close(fd, () => resolve())))

  async function readOn(): Promise<void> {
    const own = Buffer.allocUnsafeSlow(events.buffer().length)
    for (;;) {
      const outcome = await new Promise<number | NodeJS.ErrnoException>((resolve) => {
        read(fd, own, 0, own.length, null, (error, length) => resolve(error ?? length))
      })
      if (typeof outcome === 'number') {
        own.copy(events.buffer(), 0, 0, outcome)
        events.received(outcome)
      } else if (!isPassing(outcome)) {
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

/** A signal, nothing there after all, or a request taken back while it was read: the next read tells more. */
function isPassing(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EINTR' || error.code === 'EAGAIN' || error.code === 'ENOENT'
}
