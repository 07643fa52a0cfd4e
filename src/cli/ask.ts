// Questions to the person at the terminal. They go to stderr, so that stdout has only the command's results.

import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { CommandError } from './command-error.ts'

/** Returns the line that was typed, trimmed; it may be empty. Throws CommandError on Ctrl-C and Ctrl-D. */
export function ask(question: string): Promise<string> {
  return askLine(question, process.stderr)
}

/** As `ask`, but the terminal does not show what is typed. */
export function askHidden(question: string): Promise<string> {
  return askLine(question, new Writable({ write: (_chunk, _encoding, done) => done() }))
}

/** Returns all of standard input, trimmed. */
export async function readStdin(): Promise<string> {
  return (await text(process.stdin)).trim()
}

async function askLine(question: string, echo: NodeJS.WritableStream): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: echo, terminal: process.stdin.isTTY })
  const interruption = new AbortController()
  for (const end of ['SIGINT', 'close']) lines.once(end, () => interruption.abort())
  // readline turns off the terminal's own echo here, so a hidden question is printed only after this call.
  const answer = lines.question(echo === process.stderr ? question : '', { signal: interruption.signal })
  if (echo !== process.stderr) process.stderr.write(question)
  try {
    return (await answer).trim()
  } catch (error) {
    throw new CommandError('interrupted', { cause: error })
  } finally {
    lines.close()
    if (echo !== process.stderr) process.stderr.write('\n')
  }
}
