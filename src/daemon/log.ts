// The daemon's log: JSON lines in a file or for journald, short readable lines on a terminal.

import { pino } from 'pino'
import type { Log } from '../log.ts'
import { LogFile } from './log-file.ts'
import { printable, printableJson, printableLines } from '../printable.ts'
import { redact } from '../redact.ts'

export interface LogOptions {
  /** Absent: standard error; readable lines if that is a terminal. */
  readonly file?: string | undefined
  /** Takes the lines instead of a file. */
  readonly sink?: LogSink
  /** Logs debug messages, too. */
  readonly isVerbose?: boolean
}

export interface LogSink {
  write(line: string): void
}

/** Opens the log. Each line is redacted as a whole, since a secret may be in any field or message. */
export function openLog(options: LogOptions): Log {
  const level = options.isVerbose === true ? 'debug' : 'info'
  const sink = options.sink ?? (options.file === undefined ? terminalSink() : new LogFile(options.file))
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    { write: (line: string) => sink.write(printableJson(redact(line))) },
  )
}

function terminalSink(): LogSink {
  const isTerminal = process.stderr.isTTY
  // A log that cannot be written (full disk, closed pipe) must not end the daemon, and cannot be logged.
  const ignore = (): void => {}
  process.stderr.on('error', ignore)
  return {
    write(line) {
      try {
        process.stderr.write(isTerminal ? humanLine(line) : line)
      } catch {
        ignore()
      }
    },
  }
}

/** Returns the readable form of a JSON line: `12:30:01 warn  message  path=/a.txt`. */
export function humanLine(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const clock = String(time).slice(11, 19)
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${textOf(value)}`)
  const start = `${clock} ${String(level).padEnd(5)} ${printable(String(msg))}`
  return [start, ...shown].join('  ') + '\n'
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return printable(String(value))
  const { message, stack } = value as { message?: unknown; stack?: unknown }
  if (typeof message !== 'string') return printableJson(JSON.stringify(value))
  return typeof stack === 'string' ? printableLines(stack) : printable(message)
}
