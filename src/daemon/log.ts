// The daemon's log: JSON lines into a file or for journald, a short human form on a terminal.

import { pino } from 'pino'
import type { Log } from '../log.ts'
import { LogFile } from './log-file.ts'
import { printable, printableJson, printableLines } from '../printable.ts'
import { redact } from '../redact.ts'

export interface LogOptions {
  /** Absent: standard error, in the human form where that is a terminal. */
  readonly file?: string | undefined
  /** Takes the lines instead of a file. */
  readonly sink?: LogSink
  /** Also what is only of interest while hunting a fault. */
  readonly isVerbose?: boolean
}

export interface LogSink {
  write(line: string): void
}

/** Opens the log. Every line is redacted as a whole, whatever field or message a secret may have slipped into. */
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
  // A log that cannot be written (a full disk, a closed pipe) is no reason to end, and there is nowhere to say so.
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

/** `12:30:01 warn  message  path=/a.txt`: what a person reads of one JSON line. */
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
