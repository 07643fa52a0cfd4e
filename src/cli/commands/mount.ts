// `docmount mount`: what it takes. What it does is in run-mount.ts, loaded when it runs.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { bandwidthOption } from '../bandwidth-option.ts'
import { parseDurationMs, parseSizeBytes, parseWaitMs } from '../durations.ts'
import { quietOption } from '../progress.ts'
import type { MountCommandOptions } from '../run-mount.ts'

/** Presigned URLs live 15 minutes (interface, "Limits"), and a listing carries them. */
const urlLifetimeMs = 15 * 60_000

const help = `
The command returns when the drive is live. The daemon behind it keeps a log and what is not sent
yet in the state folder (docmount status shows where), and the documents' blocks in the cache folder.

Examples:
  $ docmount mount acme                           mounts at ~/acme
  $ docmount mount acme /mnt/acme --read-only
  $ docmount mount acme --close-wait 0            never wait for the service when saving
  $ docmount mount acme --foreground -v           stay, and show what happens

In /etc/fstab (the key in root's config file):
  acme:  /mnt/acme  docmount  base_url=https://service.example/api,allow_other,_netdev,nofail  0  0`

export function register(program: Command): void {
  program
    .command('mount')
    .summary('mount a project as a folder')
    .description('Mounts a project as a folder and returns when the drive is live.')
    .argument('<project>', 'name of the project')
    .argument('[mountpoint]', 'an empty folder (default: ~/PROJECT, made if missing)')
    .option('--base-url <url>', 'the service, /api included (default: $DOCMOUNT_BASE_URL or the config file)')
    .addOption(
      new Option('--driver <name>', 'door to the kernel')
        .choices(['auto', 'kernel', 'fuse-native'])
        .default('auto'),
    )
    .option('--foreground', 'stay in the foreground; Ctrl-C unmounts')
    .option('--read-only', 'refuse every change')
    .option('--cache-ttl <duration>', 'what you see is at most this old (default: 30s)', parseCacheTtlMs)
    .option(
      '--close-wait <duration>',
      'how long saving waits for the service; 0 = not at all, forever = until it has it (default: 10s)',
      parseWaitMs,
    )
    .option('--cache-size <size>', 'disk for cached content; 0 = none (default: 5GiB)', parseSizeBytes)
    .option('--state-dir <dir>', 'folder for what is not sent yet')
    .option('--cache-dir <dir>', 'folder for cached content')
    .option('--allow-other', 'let other users of this machine in')
    .option('--uid <number>', 'owner of the documents (default: you)', parseCount)
    .option('--gid <number>', 'group of the documents (default: yours)', parseCount)
    .option('--unsupported-as <mimetype>', 'send names the service has no type for as this type')
    .addOption(
      new Option('--on-conflict <what>', 'when somebody else changed a document: keep theirs beside yours?')
        .choices(['keep', 'overwrite'])
        .default('keep'),
    )
    .option('--rename-limit <files>', 'rename folders of at most this many files (default: 1000)', parseCount)
    .option('--tables', "show the project's tables in a folder .tables, which takes files of rows")
    .option(
      '--wait [duration]',
      'wait for the service first, so long or for as long as it takes; then mount with what was last known',
      parseWaitMs,
    )
    .addOption(bandwidthOption())
    .option('--no-notify', 'no notifications on the desktop')
    .option('--log <file>', 'log into this file')
    .option('-o <options>', 'mount(8) options: ro, allow_other, cache_ttl=30s, … as above with _ for -')
    .option(...quietOption)
    .option('-v, --verbose', 'log more')
    .addHelpText('after', help)
    .action(async (project: string, mountpoint: string | undefined, options: MountCommandOptions) => {
      const { runMount } = await import('../run-mount.ts')
      await runMount(project, mountpoint, options, program.args.slice(1))
    })
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

function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}
