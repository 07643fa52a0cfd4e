// The conventions of mount(8): `mount.docmount PROJECT: DIR -o …`, or `docmount PROJECT: DIR -o …` from fstab's
// `fuse.docmount`. Rewrites such arguments to those of `docmount mount`; parses nothing else.

import { basename } from 'node:path'
import type { Option } from 'commander'
import { driveOptions, kernelOptions } from './drive-options.ts'
import { UsageError } from './usage-error.ts'

/** Said by mount(8) or by fstab's writer to mount(8); nothing for us to do. */
const ignored = new Set(
  (
    'rw defaults auto noauto nofail _netdev user users nouser owner ' +
    'dev nodev suid nosuid exec noexec async relatime noatime'
  ).split(' '),
)

/** Words for `-o`: `ro`, and the long options of a drive, with _ for -. `cache_ttl=30s` means `--cache-ttl 30s`. */
function optionWords(): {
  readonly flags: ReadonlyMap<string, string>
  readonly valued: ReadonlySet<string>
} {
  const options = [...driveOptions(), ...kernelOptions()]
  const word = (option: Option): string => option.name().replaceAll('-', '_')
  const flags = options.filter(
    (option) => !option.required && !option.optional && !ownBusiness.has(option.name()),
  )
  return {
    flags: new Map([
      ['ro', '--read-only'],
      ...flags.map((option) => [word(option), `--${option.name()}`] as const),
    ]),
    valued: new Set(options.filter(({ required }) => required).map(word)),
  }
}

/** Of the command line, not of the drive; `ro` is mount(8)'s own word. */
const ownBusiness = new Set(['foreground', 'quiet', 'verbose', 'read-only'])

/** True when mount(8) started us: it knows exit codes of its own. */
export function isMountHelper(script: string): boolean {
  return /^mount\.(fuse\.)?docmount$/.test(basename(script))
}

/** The arguments of the program, in our own form. Throws UsageError for an unknown `-o` option. */
export function normaliseArguments(script: string, args: readonly string[]): readonly string[] {
  const isFromFstab = isMountHelper(script) || args[0]?.endsWith(':') === true
  if (!isFromFstab && args[0] !== 'mount') return args
  if (!isFromFstab) return ['mount', ...args.slice(1).flatMap(expandOptionList())]
  const [source = '', ...rest] = withoutHelperFlags(args)
  // A second `mount -a` finds the drive by the very words of fstab; and mount(8) is silent when all is well.
  return ['mount', source, ...rest.flatMap(expandOptionList()), '--source', source, '--quiet']
}

/** `-s`, `-n` and `-t TYPE` are mount(8)'s own business. */
function withoutHelperFlags(args: readonly string[]): readonly string[] {
  return args.filter((arg, index) => !['-s', '-n', '-t'].includes(arg) && args[index - 1] !== '-t')
}

/** For flatMap: an `-o` and its list become our options, everything else stays. */
function expandOptionList(): (arg: string, index: number, args: readonly string[]) => readonly string[] {
  return (arg, index, args) => {
    if (arg === '-o') return []
    return args[index - 1] === '-o' ? arg.split(',').flatMap(expandOption) : [arg]
  }
}

function expandOption(option: string): readonly string[] {
  const [name = '', ...rest] = option.split('=')
  if (option === '' || ignored.has(option) || name.startsWith('x-') || name === 'comment') return []
  const { flags, valued } = optionWords()
  const flag = flags.get(option)
  if (flag !== undefined) return [flag]
  if (!valued.has(name) || rest.length === 0) {
    throw new UsageError(`unknown mount option "${option}"; docmount mount --help lists what -o takes`)
  }
  return [`--${name.replaceAll('_', '-')}`, rest.join('=')]
}

/** The other way round: options of `docmount mount` as `-o` takes them. Throws UsageError for one that it does not take. */
export function optionListOf(args: readonly string[]): readonly string[] {
  const { flags, valued } = optionWords()
  const words: string[] = []
  const rest = args.flatMap((arg) => /^(--[^=]+)=(.*)$/s.exec(arg)?.slice(1) ?? [arg])
  for (let at = 0; at < rest.length; at++) {
    const option = rest[at] ?? ''
    const flag = [...flags].find(([, ours]) => ours === option)?.[0]
    const name = option.replace(/^--/, '').replaceAll('-', '_')
    if (flag !== undefined) words.push(flag)
    else {
      const value = rest[++at]
      if (!option.startsWith('--') || !valued.has(name) || value === undefined || value.includes(','))
        throw new UsageError(`${option} cannot be given in fstab; docs/process.md lists what it takes`)
      words.push(`${name}=${value}`)
    }
  }
  return words
}
