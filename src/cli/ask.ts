// Questions to the person at the terminal. Asked on stderr, so that stdout stays what the command prints.

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { DaemonError } from '../daemon/daemon-error.ts'

/** One line. Empty where the person only pressed Enter. Throws DaemonError for Ctrl-C and Ctrl-D. */
export function ask(question: string): Promise<string> {
  return questioned(question, process.stderr)
}

/** One line that is not shown while it is typed. Throws DaemonError for Ctrl-C and Ctrl-D. */
export function askHidden(question: string): Promise<string> {
  return questioned(question, new Writable({ write: (_chunk, _encoding, done) => done() }))
}

/** All of standard input, for a script. */
export async function readStdin(): Promise<string> {
  return (await text(process.stdin)).trim()
}

async function questioned(question: string, echo: NodeJS.WritableStream): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: echo, terminal: process.stdin.isTTY })
  const interruption = new AbortController()
  for (const end of ['SIGINT', 'close']) lines.once(end, () => interruption.abort())
  // Asked when the terminal itself echoes nothing any more.
  const answer = lines.question(echo === process.stderr ? question : '', { signal: interruption.signal })
  if (echo !== process.stderr) process.stderr.write(question)
  try {
    return (await answer).trim()
  } catch (error) {
    throw new DaemonError('interrupted', { cause: error })
  } finally {
    lines.close()
    if (echo !== process.stderr) process.stderr.write('\n')
  }
}
