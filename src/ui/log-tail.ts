// The end of a drive's log, in readable lines.

import { open } from 'node:fs/promises'
import { humanLine } from '../daemon/log.ts'

const tailBytes = 16 * 1024
const mostLines = 60

/** Resolves with the last lines, oldest first; with one that gives the reason if there are none. Never throws. */
export async function logTail(logFile: string | undefined): Promise<readonly string[]> {
  if (logFile === undefined) return ['this drive logs into no file: see where it was started']
  try {
    return (await lastLines(logFile, { mostBytes: tailBytes, mostLines })).map(readable)
  } catch (error) {
    return [`${logFile} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`]
  }
}

/** Resolves with the complete lines, oldest first, in the last `mostBytes` of a file. Rejects with the system's error. */
export async function lastLines(
  path: string,
  { mostBytes, mostLines: count }: { mostBytes: number; mostLines: number },
): Promise<readonly string[]> {
  await using file = await open(path)
  const { size } = await file.stat()
  const from = Math.max(0, size - mostBytes)
  const bytes = Buffer.alloc(size - from)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
  const lines = bytes.toString('utf8', 0, bytesRead).split('\n')
  if (from > 0) lines.shift()
  return lines.filter((line) => line !== '').slice(-count)
}

function readable(line: string): string {
  try {
    return humanLine(line).trimEnd()
  } catch {
    return line
  }
}
