// The three logs of `docmount serve`: its own, one line per request, and one line per change. Each goes to a file that is rotated,
// to standard output or standard error, or nowhere.

import { LogFile } from '../daemon/log-file.ts'
import { LogStream } from '../daemon/log-stream.ts'
import { type LogSink, humanLine, openLog } from '../daemon/log.ts'
import { type Log, silentLog } from '../log.ts'
import { UsageError } from './usage-error.ts'

export interface ServiceLogOptions {
  /** A file, `-` for standard output, or `off`; absent: standard error. */
  readonly log?: string
  /** As `log`; absent: the same place as `log`. */
  readonly accessLog?: string
  readonly auditLog?: string
  /** Bytes at which a new file is begun, and the number of full ones that are kept. */
  readonly logSize: number
  readonly logKeep: number
  readonly verbose?: boolean
}

export interface ServiceLogs {
  readonly log: Log
  readonly access: Log
  readonly audit: Log
}

/** Throws a UsageError if a file cannot be written. */
export function openServiceLogs(options: ServiceLogOptions): ServiceLogs {
  const sinks = new Map<string, LogSink>()
  function open(target: string | undefined, fallback: Log | undefined): Log {
    if (target === 'off') return silentLog
    if (target === undefined && fallback !== undefined) return fallback
    const name = target ?? 'standard error'
    const sink = sinks.get(name) ?? openSink(target, options)
    sinks.set(name, sink)
    return openLog({ sink, isVerbose: options.verbose === true })
  }
  const log = open(options.log, undefined)
  return { log, access: open(options.accessLog, log), audit: open(options.auditLog, log) }
}

function openSink(target: string | undefined, { logSize, logKeep }: ServiceLogOptions): LogSink {
  if (target === '-') return new LogStream(1)
  if (target !== undefined) {
    try {
      return new LogFile(target, { limitBytes: logSize, keep: logKeep })
    } catch (error) {
      throw new UsageError(
        `cannot log into ${target}: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
  const stream = new LogStream(2)
  return process.stderr.isTTY ? { write: (line) => stream.write(humanLine(line)) } : stream
}
