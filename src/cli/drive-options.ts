// Options of a drive: those that `mount` and `webdav` share, and those of a kernel mount.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { isMimetype } from '../api/mimetypes.ts'
import { urlLifetimeMs } from '../api/url-lifetime.ts'
import { bandwidthOption } from './bandwidth-option.ts'
import { parseDurationMs, parseLifetimeMs, parseSizeBytes, parseWaitMs } from './durations.ts'
import { leastMemoryBytes } from '../fs/tree/memory-shares.ts'
import { networkOptions } from './network-options.ts'
import { quietOption } from './progress.ts'

export function addDriveOptions(command: Command): void {
  for (const option of driveOptions()) command.addOption(option)
}

export function driveOptions(): Option[] {
  const option = (flags: string, description: string, parse?: (text: string) => unknown): Option => {
    const plain = new Option(flags, description)
    return parse === undefined ? plain : plain.argParser(parse)
  }
  return [
    option('--base-url <url>', 'the service, /api included (default: $DOCMOUNT_BASE_URL or the config file)'),
    ...networkOptions(),
    option('--foreground', 'stay in the foreground; Ctrl-C ends the drive'),
    option('--read-only', 'refuse every change'),
    option('--cache-ttl <duration>', 'show nothing older than this (default: 30s)', parseCacheTtlMs),
    option(
      '--close-wait <duration>',
      'how long saving waits for the service; 0 = not at all, forever = until the service has it (default: 10s, overlapping for programs that copy many)',
      parseWaitMs,
    ),
    option('--cache-size <size>', 'disk for cached content; 0 = none (default: 5GiB)', parseSizeBytes),
    option('--pin-size <size>', 'disk for pinned content (default: 10GiB)', parseSizeBytes),
    option(
      '--undo <duration>',
      'keep what programs delete or replace for this long, where its bytes are here; 0 = not at all (default: 30d)',
      parseLifetimeMs,
    ),
    option('--undo-size <size>', 'disk for that; the oldest goes first (default: 2GiB)', parseSizeBytes),
    option(
      '--share-locks',
      'tell other drives with this option which documents LibreOffice and Office have open here, by small documents in the service',
    ),
    option(
      '--undo-fetch <size>',
      'download what is smaller than this and not here before it is deleted or replaced (default: 0)',
      parseSizeBytes,
    ),
    option(
      '--memory <size>',
      'memory of the drive, roughly; listings beyond it are dropped and fetched again (default: 512MiB)',
      parseMemory,
    ).env('DOCMOUNT_MEMORY'),
    option('--state-dir <dir>', 'folder for the log and what is not sent yet'),
    option('--cache-dir <dir>', 'folder for cached content; each project has its own folder in it'),
    option(
      '--unsupported-as <mimetype>',
      'send files whose type the service does not take as this type',
      parseMimetype,
    ),
    option(
      '--on-conflict <what>',
      'if someone else changed a document too: keep their version beside yours, or overwrite it',
    )
      .choices(['keep', 'overwrite'])
      .default('keep'),
    option('--rename-limit <files>', 'rename folders of at most this many files (default: 1000)', parseCount),
    option('--tables', "show the project's tables in a folder .tables, which takes files of rows"),
    option(
      '--wait [duration]',
      'wait for the service first, until it answers or for this long; then start with what was last known',
      parseWaitMs,
    ),
    bandwidthOption(),
    option('--no-notify', 'send no desktop notifications'),
    option('--no-tray', "show no status item in the desktop's tray"),
    option('--log <file>', 'log into this file'),
    option(...quietOption),
    option('-v, --verbose', 'log more'),
  ]
}

/** Options for `mount` only. */
export function kernelOptions(): Option[] {
  return [
    new Option('--driver <name>', 'how to talk to the kernel')
      .choices(['auto', 'kernel', 'fuse-native'])
      .default('auto'),
    new Option(
      '--allow-other',
      'let other users of this machine in, as far as the modes let them; everything belongs to --uid',
    ),
    new Option('--no-live-folders', "tell programs that watch a folder nothing of other clients' changes"),
    new Option(
      '--attributes',
      'tell the state of each document as extended attributes, user.docmount.*; ls -l and small writes take longer',
    ),
    new Option('--uid <number>', 'owner of the documents (default: you)').argParser(parseCount),
    new Option('--gid <number>', 'group of the documents (default: yours)').argParser(parseCount),
  ]
}

function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}

function parseMimetype(text: string): string {
  if (!isMimetype(text))
    throw new InvalidArgumentError('Write a type that the service takes, like text/plain (docmount types).')
  return text
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
