// Options of every drive, whatever door it has.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { bandwidthOption } from './bandwidth-option.ts'
import { parseDurationMs, parseSizeBytes, parseWaitMs } from './durations.ts'
import { leastMemoryBytes } from '../fs/tree/memory-shares.ts'
import { quietOption } from './progress.ts'

/** Presigned URLs live 15 minutes (interface, "Limits"), and a listing carries them. */
const urlLifetimeMs = 15 * 60_000

export function addDriveOptions(command: Command): void {
  command
    .option('--base-url <url>', 'the service, /api included (default: $DOCMOUNT_BASE_URL or the config file)')
    .option('--foreground', 'stay in the foreground; Ctrl-C ends the drive')
    .option('--read-only', 'refuse every change')
    .option('--cache-ttl <duration>', 'what you see is at most this old (default: 30s)', parseCacheTtlMs)
    .option(
      '--close-wait <duration>',
      'how long saving waits for the service; 0 = not at all, forever = until the service has it (default: 10s, overlapping for programs that copy many)',
      parseWaitMs,
    )
    .option('--cache-size <size>', 'disk for cached content; 0 = none (default: 5GiB)', parseSizeBytes)
    .option('--pin-size <size>', 'disk for what is pinned (default: 10GiB)', parseSizeBytes)
    .addOption(
      new Option(
        '--memory <size>',
        'memory of the drive, roughly; listings beyond it are fetched again (default: 512MiB)',
      )
        .argParser(parseMemory)
        .env('DOCMOUNT_MEMORY'),
    )
    .option('--state-dir <dir>', 'folder for what is not sent yet')
    .option('--cache-dir <dir>', 'folder for cached content; each project has its own folder in it')
    .option('--unsupported-as <mimetype>', 'send files whose type the service does not take as this type')
    .addOption(
      new Option(
        '--on-conflict <what>',
        'what to do when somebody else changed a document: keep their version beside yours, or overwrite it',
      )
        .choices(['keep', 'overwrite'])
        .default('keep'),
    )
    .option('--rename-limit <files>', 'rename folders of at most this many files (default: 1000)', parseCount)
    .option('--tables', "show the project's tables in a folder .tables, which takes files of rows")
    .option(
      '--wait [duration]',
      'wait for the service first, for this long or until it is there; after that, start with what was last known',
      parseWaitMs,
    )
    .addOption(bandwidthOption())
    .option('--no-notify', 'no notifications on the desktop')
    .option('--log <file>', 'log into this file')
    .option(...quietOption)
    .option('-v, --verbose', 'log more')
}

export function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}

function parseMemory(text: string): number {
  const bytes = parseSizeBytes(text)
  if (bytes < leastMemoryBytes)
    throw new InvalidArgumentError(
      `Choose ${leastMemoryBytes / 2 ** 20}MiB or more: the program itself takes a part of it.`,
    )
  return bytes
}

function parseCacheTtlMs(text: string): number {
  const ttlMs = parseDurationMs(text)
  if (ttlMs >= urlLifetimeMs) {
    throw new InvalidArgumentError(
      "Choose less than 15m: the service's download URLs, kept with a listing, live 15 minutes.",
    )
  }
  return ttlMs
}
