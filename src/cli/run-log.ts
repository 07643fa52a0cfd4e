// Implements `docmount log`. It reads the log file only, so it also works while the drive hangs.

import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from './command-error.ts'
import { humanLine } from '../daemon/log.ts'
import { printable, printableJson } from '../printable.ts'
import { findDrive } from './find-drive.ts'
import { exitWhenReaderCloses } from './lost-output.ts'

/** Size of the part at the end of the log that is shown. */
const tailBytes = 64 * 1024
const pollMs = 200

export async function runLog(
  path: string | undefined,
  { isFollowing, isJson }: { isFollowing: boolean; isJson: boolean },
): Promise<void> {
  const place = await findDrive(path)
  const logFile = place.found.record?.logFile
  if (logFile === undefined)
    throw new CommandError(`${place.found.mountpoint} logs into no file: see where it was started`)
  const show = (line: string): void => {
    if (concerns(line, place.path)) process.stdout.write(isJson ? `${printableJson(line)}\n` : readable(line))
  }
  await showLines(logFile, { mostBytes: tailBytes, isFollowing }, show)
}

/**
 * Calls `show` with the complete lines in the last `mostBytes` of a log; with `isFollowing` also with new ones, until Ctrl-C. `onCaughtUp` is
 * called between the two. */
export async function showLines(
  logFile: string,
  {
    mostBytes,
    isFollowing,
    onCaughtUp,
  }: { readonly mostBytes: number; readonly isFollowing: boolean; readonly onCaughtUp?: () => void },
  show: (line: string) => void,
): Promise<void> {
  if (isFollowing) exitWhenReaderCloses()
  let file = await open(logFile)
  try {
    const { size } = await file.stat()
    const lines = new LineReader(Math.max(0, size - mostBytes))
    await lines.read(file, show)
    onCaughtUp?.()
    if (!isFollowing) return
    for (;;) {
      await sleep(pollMs)
      const next = await openIfRotated(logFile, file)
      await lines.read(file, show)
      if (next === undefined) continue
      await file.close()
      file = next
      lines.restart()
    }
  } finally {
    await file.close()
  }
}

/** True if the line names the path or one below it; always true for the root. */
function concerns(line: string, path: string): boolean {
  if (path === '/') return true
  const text = printableJson(JSON.stringify(path)).slice(1, -1)
  const at = line.indexOf(text)
  return at >= 0 && /^["/ :]/.test(line.slice(at + text.length))
}

function readable(line: string): string {
  try {
    return humanLine(line)
  } catch {
    return `${printable(line)}\n`
  }
}

/** Returns the new log file if the daemon has started another one under the same name. */
async function openIfRotated(logFile: string, file: FileHandle): Promise<FileHandle | undefined> {
  const next = await open(logFile).catch(() => undefined)
  if (next === undefined) return undefined
  if ((await next.stat()).ino !== (await file.stat()).ino) return next
  await next.close()
  return undefined
}

/** Reads the complete lines that were added to a growing file. */
class LineReader {
  #position: number
  #rest: string
  /** False if reading starts in the middle of the file: the first line is skipped then. */
  #isAtLineStart: boolean

  constructor(position: number) {
    this.#position = position
    this.#rest = ''
    this.#isAtLineStart = position === 0
  }

  restart(): void {
    this.#position = 0
    this.#rest = ''
    this.#isAtLineStart = true
  }

  async read(file: FileHandle, show: (line: string) => void): Promise<void> {
    const { size } = await file.stat()
    if (size <= this.#position) return
    const bytes = Buffer.alloc(size - this.#position)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#position)
    this.#position += bytesRead
    const lines = (this.#rest + bytes.toString('utf8', 0, bytesRead)).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      if (this.#isAtLineStart) show(line)
      this.#isAtLineStart = true
    }
  }
}
