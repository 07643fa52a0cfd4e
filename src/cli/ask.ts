// Questions to the person at the terminal. Asked on stderr, so that stdout stays what the command prints.

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** One line. Empty where the person only pressed Enter. */
export function ask(question: string): Promise<string> {
  return questioned(question, process.stderr)
}

/** One line that is not shown while it is typed. */
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
  lines.once('SIGINT', () => interruption.abort())
  // Asked when the terminal itself echoes nothing any more.
  const answer = lines.question(echo === process.stderr ? question : '', { signal: interruption.signal })
  if (echo !== process.stderr) process.stderr.write(question)
  try {
    return (await answer).trim()
  } finally {
    lines.close()
    if (echo !== process.stderr) process.stderr.write('\n')
  }
}
