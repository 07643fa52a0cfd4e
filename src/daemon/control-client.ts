// The client's side of the control socket.

import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { ControlCommand, ControlCommands, ControlMessage } from './control-protocol.ts'
import { DaemonError } from './daemon-error.ts'
import { openSocketPath } from './socket-path.ts'

export interface AskOptions<C extends ControlCommand> {
  onProgress?: (progress: ControlCommands[C]['progress']) => void
  /** Closes the connection, which cancels the command. */
  signal?: AbortSignal
}

/**
 * Sends one command to the daemon at `socketPath` and resolves with its answer. Throws a DaemonError with the
 * daemon's own message, or one that says that no daemon listens.
 */
export async function ask<C extends ControlCommand>(
  socketPath: string,
  command: C,
  input: ControlCommands[C]['input'],
  options: AskOptions<C> = {},
): Promise<ControlCommands[C]['answer']> {
  using name = openSocketPath(socketPath)
  const socket = connect({
    path: name.path,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const failure = new Promise<never>((_, failed) => {
    socket.once('error', (error) => failed(describeSocketError(error, options.signal)))
  })
  // The same error also ends the loop below; either may report it.
  failure.catch(() => {})
  await Promise.race([new Promise((connected) => socket.once('connect', connected)), failure])
  socket.write(`${JSON.stringify({ command, input })}\n`)
  const answer = readAnswer(createInterface({ input: socket }), options)
  try {
    return await Promise.race([answer, failure])
  } finally {
    socket.destroy()
  }
}

async function readAnswer<C extends ControlCommand>(
  lines: AsyncIterable<string>,
  options: AskOptions<C>,
): Promise<ControlCommands[C]['answer']> {
  for await (const line of lines) {
    const message = JSON.parse(line) as ControlMessage<C>
    if ('answer' in message) return message.answer
    if ('error' in message) {
      const { code, message: text, isTemporary } = message.error
      throw Object.assign(new DaemonError(text, { isTemporary }), { code })
    }
    options.onProgress?.(message.progress)
  }
  throw new DaemonError('the daemon ended before it answered; see its log (docmount status names it)')
}

function describeSocketError(error: Error, signal: AbortSignal | undefined): Error {
  const { code } = error as NodeJS.ErrnoException
  if (signal?.aborted === true) {
    const reason: unknown = signal.reason
    // The caller's own reason is passed on; timeouts and plain aborts are DOMExceptions.
    if (reason instanceof Error && !(reason instanceof DOMException)) return reason
    return new DaemonError('it took too long', { cause: error })
  }
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    return new DaemonError('nobody listens at its control socket', { cause: error })
  }
  return new DaemonError(`the daemon cannot be reached: ${code ?? error.message}`, { cause: error })
}
