// Real programs that save, move, copy, remove and read documents of a drive with two doors: by its mount, and by WebDAV.

import { basename, dirname, join } from 'node:path'

import { isInstalled, run, type Ran } from '../support/run.ts'

/** A drive as programs are told of it. */
export interface BothDoors {
  readonly mountpoint: string
  /** Without a slash at the end. */
  readonly url: string
  /** A file with curl's options for it. */
  readonly curlConfig: string
  /** Variables that make it rclone's remote `drive`. */
  readonly rclone: NodeJS.ProcessEnv
}

export type Outcome = 'done' | 'in doubt' | 'nothing'

export interface Done {
  readonly outcome: Outcome
  readonly said: string
}

/** Longer than any patience of the drive's; a program that takes longer hangs. */
export const programLimitMs = 150_000

interface Line {
  readonly argv: readonly [string, ...string[]]
  readonly env?: NodeJS.ProcessEnv
}

interface Program {
  readonly name: string
  /** Others may see a part of it, and none for a moment. */
  readonly isInPlace: boolean
  /** Makes missing folders, which are other programs' to move. */
  readonly makesFolders?: boolean
  /** It asks its person where another program has saved meanwhile, or the drive has died, and waits for the answer. */
  readonly isForOne?: boolean
  /** `file`: what is saved, outside of the drive and of the same name. `mark`: a number of this call's own. */
  readonly line: (doors: BothDoors, path: string, file: string, mark: number) => Line
}

/** The status of a WebDAV answer is all it prints. */
const curl = ({ curlConfig }: BothDoors, ...args: string[]): Line => ({
  argv: [
    'curl',
    '-sS',
    '-K',
    curlConfig,
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    '--max-time',
    '140',
    ...args,
  ],
})
const rclone = ({ rclone: env }: BothDoors, ...args: string[]): Line => ({
  argv: ['rclone', '--retries', '2', '--ignore-times', ...args],
  env,
})
const shell = (line: string, ...args: string[]): Line => ({
  argv: ['bash', '-euo', 'pipefail', '-c', line, 'bash', ...args],
})
const python = (line: string, ...args: string[]): Line => ({
  argv: ['python3', '-c', line, ...args],
})

export const at = ({ mountpoint }: BothDoors, path: string): string => mountpoint + path
const urlOf = ({ url }: BothDoors, path: string): string => url + encodeURI(path)

const savedByPython = `import os, sys
file, path, beside = sys.argv[1:]
with open(beside, "wb") as out:
    out.write(open(file, "rb").read()); out.flush(); os.fsync(out.fileno())
os.replace(beside, path)`

const writtenByPython = `import os, sys
with open(sys.argv[2], "wb") as out:
    out.write(open(sys.argv[1], "rb").read()); out.flush(); os.fsync(out.fileno())`

const vim = [
  '-N',
  '-es',
  '-u',
  'NONE',
  '-i',
  'NONE',
  '--cmd',
  'set shortmess+=A fixeol backup writebackup',
  '-c',
  '%d _',
  '-c',
  'execute "0r" fnameescape($SAVED)',
  '-c',
  'g/^$/d _',
  '-c',
  'wq!',
]

/** Takes a lock, saves under it, and gives it back. A lock that was had and a save that failed is no answer to rely on. */
const lockedSave = `lockinfo='<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
headers=$(curl -sS -K "$1" -X LOCK -H 'Timeout: Second-60' -d "$lockinfo" -o /dev/null -D - "$2")
token=$(sed -n 's/^[Ll]ock-[Tt]oken: *<\\(.*\\)>.*/\\1/p' <<<"$headers")
if [ -z "$token" ]; then sed -n '1s/^[^ ]* \\([0-9]*\\).*/\\1/p' <<<"$headers"; exit; fi
status=$(curl -sS -K "$1" -T "$3" -H "If: (<$token>)" -o /dev/null -w '%{http_code}' "$2")
curl -sS -K "$1" -X UNLOCK -H "Lock-Token: <$token>" -o /dev/null "$2"
case $status in 2*) echo "$status" ;; *) echo 599 ;; esac`

const beside = (doors: BothDoors, path: string, mark: number): string =>
  join(dirname(at(doors, path)), `part-${mark}.part.txt`)

const allSavers: readonly Program[] = [
  { name: 'cp', isInPlace: true, line: (doors, path, file) => ({ argv: ['cp', file, at(doors, path)] }) },
  {
    name: 'cp and mv',
    isInPlace: false,
    line: (doors, path, file, mark) =>
      shell('cp "$1" "$2"; mv -T "$2" "$3"', file, beside(doors, path, mark), at(doors, path)),
  },
  {
    name: 'rsync',
    isInPlace: false,
    line: (doors, path, file) => ({ argv: ['rsync', '-I', file, at(doors, path)] }),
  },
  {
    name: 'rsync --inplace',
    isInPlace: true,
    line: (doors, path, file) => ({ argv: ['rsync', '-I', '--inplace', file, at(doors, path)] }),
  },
  {
    name: 'gio copy',
    isInPlace: true,
    line: (doors, path, file) => ({ argv: ['gio', 'copy', file, at(doors, path)] }),
  },
  {
    name: 'tar',
    isInPlace: true,
    line: (doors, path, file) =>
      shell(
        'tar -C "$1" -cf - "$2" | tar -C "$3" -xf -',
        dirname(file),
        basename(file),
        dirname(at(doors, path)),
      ),
  },
  {
    name: 'dd',
    isInPlace: true,
    line: (doors, path, file) => ({
      argv: ['dd', `if=${file}`, `of=${at(doors, path)}`, 'bs=4096', 'conv=fsync', 'status=none'],
    }),
  },
  {
    name: 'python, beside and in its place',
    isInPlace: false,
    line: (doors, path, file, mark) =>
      python(savedByPython, file, at(doors, path), beside(doors, path, mark)),
  },
  {
    name: 'python, in place',
    isInPlace: true,
    line: (doors, path, file) => python(writtenByPython, file, at(doors, path)),
  },
  {
    name: 'vim',
    isInPlace: true,
    isForOne: true,
    line: (doors, path, file) => ({
      argv: ['timeout', '-k', '5', '60', 'vim', ...vim, at(doors, path)],
      env: { SAVED: file },
    }),
  },
  {
    name: 'curl, PUT',
    isInPlace: true,
    line: (doors, path, file) => curl(doors, '-T', file, urlOf(doors, path)),
  },
  {
    name: 'curl, LOCK PUT UNLOCK',
    isInPlace: true,
    line: (doors, path, file) => shell(lockedSave, doors.curlConfig, urlOf(doors, path), file),
  },
  {
    name: 'rclone copyto',
    isInPlace: true,
    makesFolders: true,
    line: (doors, path, file) => rclone(doors, 'copyto', file, `drive:${path}`),
  },
]

const nowhere: BothDoors = { mountpoint: '', url: '', curlConfig: '', rclone: {} }

/** Those that are installed. */
export const savers: readonly Program[] = allSavers.filter(({ line }) =>
  isInstalled(line(nowhere, '/', '/', 0).argv[0]),
)

export interface TwoNames {
  readonly name: string
  readonly isInPlace: boolean
  readonly line: (doors: BothDoors, from: string, to: string) => Line
}

const headersOf = (doors: BothDoors, to: string, overwrite: 'T' | 'F'): string[] => [
  '-H',
  `Destination: ${urlOf(doors, to)}`,
  '-H',
  `Overwrite: ${overwrite}`,
]

export const movers: readonly TwoNames[] = [
  {
    name: 'mv',
    isInPlace: false,
    line: (doors, from, to) => ({ argv: ['mv', '-T', at(doors, from), at(doors, to)] }),
  },
  {
    name: 'curl, MOVE',
    isInPlace: false,
    line: (doors, from, to) => curl(doors, '-X', 'MOVE', ...headersOf(doors, to, 'T'), urlOf(doors, from)),
  },
]

/** Only to a place that is free. */
export const folderMovers: readonly TwoNames[] = [
  movers[0] as TwoNames,
  {
    name: 'curl, MOVE of a folder',
    isInPlace: false,
    line: (doors, from, to) =>
      curl(doors, '-X', 'MOVE', ...headersOf(doors, to, 'F'), `${urlOf(doors, from)}/`),
  },
]

export const copiers: readonly TwoNames[] = [
  {
    name: 'cp on the drive',
    isInPlace: true,
    line: (doors, from, to) => ({ argv: ['cp', at(doors, from), at(doors, to)] }),
  },
  {
    name: 'curl, COPY',
    isInPlace: true,
    line: (doors, from, to) => curl(doors, '-X', 'COPY', ...headersOf(doors, to, 'T'), urlOf(doors, from)),
  },
]

export const removers: readonly { name: string; line: (doors: BothDoors, path: string) => Line }[] = [
  { name: 'rm', line: (doors, path) => ({ argv: ['rm', at(doors, path)] }) },
  { name: 'curl, DELETE', line: (doors, path) => curl(doors, '-X', 'DELETE', urlOf(doors, path)) },
  { name: 'rclone deletefile', line: (doors, path) => rclone(doors, 'deletefile', `drive:${path}`) },
]

/** Programs that go on from what is there: the line, and the document as it is then. `words` are a line of text. */
export const editors: readonly {
  name: string
  line: (doors: BothDoors, path: string, words: string) => Line
  edited: (before: Buffer, words: string) => Buffer
}[] = [
  {
    name: 'sed -i',
    line: (doors, path, words) => ({ argv: ['sed', '-i', `1s/.*/${words}/`, at(doors, path)] }),
    edited: (before, words) => {
      const end = before.indexOf('\n')
      return before.length === 0
        ? before
        : Buffer.concat([Buffer.from(words), end < 0 ? Buffer.alloc(0) : before.subarray(end)])
    },
  },
  {
    name: '>>',
    line: (doors, path, words) => shell('echo "$1" >> "$2"', words, at(doors, path)),
    edited: (before, words) => Buffer.concat([before, Buffer.from(`${words}\n`)]),
  },
  {
    name: 'truncate',
    line: (doors, path) => ({ argv: ['truncate', '-s', '128', at(doors, path)] }),
    edited: (before) =>
      Buffer.concat([before.subarray(0, 128), Buffer.alloc(Math.max(0, 128 - before.length))]),
  },
  {
    name: 'python, r+',
    line: (doors, path, words) =>
      python(
        'import os,sys\nf = os.open(sys.argv[1], os.O_RDWR)\nos.pwrite(f, sys.argv[2].encode(), 64)\nos.fsync(f)\nos.close(f)',
        at(doors, path),
        words,
      ),
    edited: (before, words) => {
      const after = Buffer.concat([before, Buffer.alloc(Math.max(0, 64 + words.length - before.length))])
      after.write(words, 64)
      return after
    },
  },
]

export const readers: readonly {
  name: string
  line: (doors: BothDoors, path: string) => Line
  /** Of a name that is not there. */
  isMissing: (ran: Ran) => boolean
  /** It answers with nothing, and no failure, where a name comes while it looks for a folder of that name. */
  mayMiss?: boolean
}[] = [
  {
    name: 'cat',
    line: (doors, path) => ({ argv: ['cat', at(doors, path)] }),
    isMissing: ({ stderr }) => stderr.includes('No such file'),
  },
  {
    name: 'curl, GET',
    line: (doors, path) => ({
      argv: ['curl', '-sS', '-f', '-K', doors.curlConfig, '--max-time', '140', urlOf(doors, path)],
    }),
    isMissing: ({ stderr }) => stderr.includes('error: 404'),
  },
  {
    name: 'rclone cat',
    line: (doors, path) => rclone(doors, 'cat', `drive:${path}`),
    isMissing: () => false,
    mayMiss: true,
  },
]

/** Runs it to its end; throws where it hangs. */
export async function performed({ argv: [program, ...args], env }: Line): Promise<Ran> {
  return run(program, args, {
    mayFail: true,
    limitMs: programLimitMs,
    env: { ...process.env, RCLONE_CONFIG: '', ...env },
  })
}

/** Refusals of a WebDAV request that change nothing. */
const refusals = new Set(['404', '405', '409', '412', '423'])

export function outcomeOf({ argv: [program] }: Line, ran: Ran, isWebdavByShell: boolean): Done {
  const said = `exit code ${ran.code}: ${ran.stdout.slice(0, 200)} ${ran.stderr.slice(0, 600)}`
  if (program !== 'curl' && !isWebdavByShell) return { outcome: ran.code === 0 ? 'done' : 'in doubt', said }
  const status = ran.stdout.trim()
  if (ran.code === 0 && status.startsWith('2') && status !== '207') return { outcome: 'done', said }
  return { outcome: ran.code === 0 && refusals.has(status) ? 'nothing' : 'in doubt', said }
}
