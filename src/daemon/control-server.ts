// The daemon's side of the control socket: framing and errors. control-handlers.ts has the commands.

import { chmod, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Log } from '../log.ts'
import {
  type ControlCommand,
  type ControlCommands,
  type ControlRequest,
  maxRequestBytes,
} from './control-protocol.ts'
import { withoutErrno } from '../errno-error.ts'
import { DaemonError } from './daemon-error.ts'
import { openSocketPath } from './socket-path.ts'

/** `signal` is aborted when the client closes the connection. */
export interface ControlContext<C extends ControlCommand> {
  readonly signal: AbortSignal
  readonly onProgress: (progress: ControlCommands[C]['progress']) => void
}

export type ControlHandlers = {
  readonly [C in ControlCommand]: (
    input: ControlCommands[C]['input'],
    context: ControlContext<C>,
  ) => Promise<ControlCommands[C]['answer']> | ControlCommands[C]['answer']
}

export interface ControlServer {
  /** Listens again at the same path, after its socket file was removed. */
  listenAgain(): Promise<void>
  /** Stops listening and removes the socket at once; resolves when the pending answers are sent. */
  close(): Promise<void>
}

/** Longest wait at the end for a client that neither reads nor closes. */
const lastAnswersMs = 2000

/** Listens at `socketPath`, for this user alone. The socket of a dead daemon is replaced. */
export async function startControlServer(
  socketPath: string,
  handlers: ControlHandlers,
  log: Log,
): Promise<ControlServer> {
  const sockets = new Set<Socket>()
  const answer = (socket: Socket): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    serve(socket, handlers).catch((error: unknown) => {
      log.warn({ error }, 'a control request failed')
      socket.destroy()
    })
  }
  let listener = await listen(socketPath, answer, log)
  return {
    async listenAgain() {
      // The old listener is closed first, since closing removes the socket file. Its pending commands are still answered.
      void listener.close()
      listener = await listen(socketPath, answer, log)
    },
    async close() {
      const allGone = listener.close()
      const tooLong = setTimeout(() => sockets.forEach((socket) => socket.destroy()), lastAnswersMs)
      await allGone
      clearTimeout(tooLong)
    },
  }
}

interface Listener {
  /** Stops listening at once; resolves when all its connections are closed. */
  close(): Promise<void>
}

async function listen(socketPath: string, answer: (socket: Socket) => void, log: Log): Promise<Listener> {
  await rm(socketPath, { force: true })
  const socketName = openSocketPath(socketPath)
  const server = createServer(answer)
  try {
    await new Promise<void>((listening, failed) => {
      server.once('error', failed)
      server.listen(socketName.path, listening)
    })
  } catch (error) {
    socketName[Symbol.dispose]()
    throw error
  }
  server.on('error', (error) => log.warn({ error }, 'the control socket failed'))
  await chmod(socketPath, 0o600)
  return {
    close() {
      const closed = new Promise<void>((done) => void server.close(() => done()))
      socketName[Symbol.dispose]()
      return closed
    },
  }
}

async function serve(socket: Socket, handlers: ControlHandlers): Promise<void> {
  const gone = new AbortController()
  // A client may end while it is answered.
  socket.on('error', () => gone.abort())
  socket.on('close', () => gone.abort())
  socket.on('end', () => gone.abort())
  const send = (message: object): void => {
    if (socket.writable) socket.write(`${JSON.stringify(message)}\n`)
  }
  try {
    const { command, input } = await readRequest(socket, handlers)
    await untilSocketsRead()
    if (gone.signal.aborted) return
    const handle = handlers[command] as (input: unknown, context: ControlContext<ControlCommand>) => unknown
    const answer = await handle(input, {
      signal: gone.signal,
      onProgress: (progress) => send({ progress }),
    })
    send({ answer })
  } catch (error) {
    send({ error: describeError(error) })
  }
  socket.end()
}

/**
 * Resolves after two turns of the event loop: if this process was stopped for a while, the client may have closed meanwhile, and
 * that is read right after the request.
 */
async function untilSocketsRead(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

async function readRequest(socket: Socket, handlers: ControlHandlers): Promise<ControlRequest> {
  let receivedBytes = 0
  const lines = createInterface({ input: socket })
  const line = await new Promise<string>((received, failed) => {
    lines.once('line', received)
    // `createInterface` emits errors of the socket again, also after the line: without a listener they would end the daemon.
    lines.on('error', failed)
    lines.once('close', () => failed(new DaemonError('the request ended before its line did')))
    socket.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length
      if (receivedBytes > maxRequestBytes) failed(new DaemonError('the request is too long'))
    })
  })
  return parseRequest(line, handlers)
}

function parseRequest(line: string, handlers: ControlHandlers): ControlRequest {
  let value: Partial<ControlRequest> | null
  try {
    value = JSON.parse(line) as Partial<ControlRequest> | null
  } catch (error) {
    throw new DaemonError('the request is not JSON', { cause: error })
  }
  const { command, input } = value ?? {}
  if (command === undefined || !Object.hasOwn(handlers, command)) {
    throw new DaemonError(
      `this daemon knows no command "${String(command)}"; unmount and mount again to update it`,
    )
  }
  return { command, input: input ?? {} }
}

function describeError(error: unknown): { code: string | undefined; message: string; isTemporary: boolean } {
  const { code, isTemporary } = error as { code?: unknown; isTemporary?: unknown }
  return {
    code: typeof code === 'string' ? code : undefined,
    message: withoutErrno(error instanceof Error ? error.message : String(error)),
    isTemporary: isTemporary === true,
  }
}
