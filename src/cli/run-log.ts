// Work of `docmount log`. Reads the log file, never the drive.

import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { DaemonError } from '../daemon/daemon-error.ts'
import { humanLine } from '../daemon/log.ts'
import { printable, printableJson } from '../printable.ts'
import { findDrive } from './find-drive.ts'
import { endWithReader } from './lost-output.ts'

/** How much of the end is shown. */
const tailBytes = 64 * 1024
const lookEveryMs = 200

export async function runLog(
  path: string | undefined,
  { isFollowing, isJson }: { isFollowing: boolean; isJson: boolean },
): Promise<void> {
  const place = await findDrive(path)
  const logFile = place.found.record?.logFile
  if (logFile === undefined)
    throw new DaemonError(`${place.found.mountpoint} logs into no file: see where it was started`)
  const show = (line: string): void => {
    if (concerns(line, place.path)) process.stdout.write(isJson ? `${printableJson(line)}\n` : readable(line))
  }
  await showLines(logFile, { mostBytes: tailBytes, isFollowing }, show)
}

/** Shows the whole lines in the last `mostBytes` of a log, and with `isFollowing` those that come, until the process ends. */
export async function showLines(
  logFile: string,
  { mostBytes, isFollowing }: { mostBytes: number; isFollowing: boolean },
  show: (line: string) => void,
): Promise<void> {
  if (isFollowing) endWithReader()
  let file = await open(logFile)
  try {
    const { size } = await file.stat()
    const lines = new Lines(Math.max(0, size - mostBytes))
    await lines.read(file, show)
    if (!isFollowing) return
    for (;;) {
      await sleep(lookEveryMs)
      const next = await begunAnew(logFile, file)
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

/** True for every line of the root, and for those that name the path or what is below it. */
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

/** The new file, where the log has begun another one. */
async function begunAnew(logFile: string, file: FileHandle): Promise<FileHandle | undefined> {
  const next = await open(logFile).catch(() => undefined)
  if (next === undefined) return undefined
  if ((await next.stat()).ino !== (await file.stat()).ino) return next
  await next.close()
  return undefined
}

/** Whole lines of a file that grows. */
class Lines {
  #position: number
  #rest: string
  #isFirstWhole: boolean

  constructor(position: number) {
    this.#position = position
    this.#rest = ''
    this.#isFirstWhole = position === 0
  }

  restart(): void {
    this.#position = 0
    this.#rest = ''
    this.#isFirstWhole = true
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
      if (this.#isFirstWhole) show(line)
      this.#isFirstWhole = true
    }
  }
}
