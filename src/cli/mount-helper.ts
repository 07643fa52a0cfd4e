// Rewrites the arguments of mount(8) to those of `docmount mount`: `mount.docmount PROJECT: DIR -o …`, or
// `docmount PROJECT: DIR -o …` from fstab's `fuse.docmount`; and options of `docmount mount` to those of fstab.

import { basename } from 'node:path'
import type { Option } from 'commander'
import { driveOptions, kernelOptions } from './drive-options.ts'
import { UsageError } from './usage-error.ts'

/** Options in fstab that are meant for mount(8) or the kernel, and mean nothing to docmount. */
const ignored = new Set(
  (
    'rw defaults auto noauto nofail _netdev user users nouser owner ' +
    'dev nodev suid nosuid exec noexec async relatime noatime'
  ).split(' '),
)

/** Returns the names that `-o` takes: `ro`, and the long options of a drive, with _ for -: `cache_ttl=30s` is `--cache-ttl 30s`. */
function mountOptionNames(): {
  /** Options without a value, and the options of `docmount mount` for them. */
  readonly flags: ReadonlyMap<string, string>
  readonly valued: ReadonlySet<string>
} {
  const options = [...driveOptions(), ...kernelOptions()]
  const nameOf = (option: Option): string => option.name().replaceAll('-', '_')
  const flags = options.filter(
    (option) => !option.required && !option.optional && !notForFstab.has(option.name()),
  )
  return {
    flags: new Map([
      ['ro', '--read-only'],
      ...flags.map((option) => [nameOf(option), `--${option.name()}`] as const),
    ]),
    valued: new Set(options.filter(({ required }) => required).map(nameOf)),
  }
}

/** Options that make sense on the command line only; mount(8) writes `ro` for `--read-only`. */
const notForFstab = new Set(['foreground', 'quiet', 'verbose', 'read-only'])

/** True if mount(8) started this program, which expects other exit codes. */
export function isMountHelper(script: string): boolean {
  return /^mount\.(fuse\.)?docmount$/.test(basename(script))
}

/** Returns the arguments with those of mount(8) rewritten, others unchanged. Throws UsageError for an unknown `-o` option. */
export function normaliseArguments(script: string, args: readonly string[]): readonly string[] {
  const isFromFstab = isMountHelper(script) || args[0]?.endsWith(':') === true
  if (!isFromFstab && args[0] !== 'mount') return args
  if (!isFromFstab) return ['mount', ...args.slice(1).flatMap(expandOptionList())]
  const [source = '', ...rest] = withoutHelperFlags(args)
  // `mount -a` recognises a mounted drive by the source that fstab has. Quiet, as mount(8) is.
  return ['mount', source, ...rest.flatMap(expandOptionList()), '--source', source, '--quiet']
}

/** Removes `-s`, `-n` and `-t TYPE`, which mount(8) passes to every helper. */
function withoutHelperFlags(args: readonly string[]): readonly string[] {
  return args.filter((arg, index) => !['-s', '-n', '-t'].includes(arg) && args[index - 1] !== '-t')
}

/** Returns a callback for flatMap that replaces `-o LIST` by options of `docmount mount`. */
function expandOptionList(): (arg: string, index: number, args: readonly string[]) => readonly string[] {
  return (arg, index, args) => {
    if (arg === '-o') return []
    return args[index - 1] === '-o' ? arg.split(',').flatMap(expandOption) : [arg]
  }
}

function expandOption(option: string): readonly string[] {
  const [name = '', ...rest] = option.split('=')
  if (option === '' || ignored.has(option) || name.startsWith('x-') || name === 'comment') return []
  const { flags, valued } = mountOptionNames()
  const flag = flags.get(option)
  if (flag !== undefined) return [flag]
  if (!valued.has(name) || rest.length === 0) {
    throw new UsageError(`unknown mount option "${option}"; docmount mount --help lists what -o takes`)
  }
  return [`--${name.replaceAll('_', '-')}`, rest.join('=')]
}

/** Returns options of `docmount mount` in the form of `-o`. Throws UsageError for an option that cannot be in fstab. */
export function optionListOf(args: readonly string[]): readonly string[] {
  const { flags, valued } = mountOptionNames()
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
