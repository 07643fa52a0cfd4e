// Compares the doors to the kernel with the same content in memory behind each: our kernel driver, fuse-native, and C on
// libfuse. Prints a table. Started by `scripts/bench-driver`.

import { execFile, fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readFile, rmdir } from 'node:fs/promises'
import { arch, cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = import.meta.dirname
const rounds = 3
const listedFiles = 10_000
const megabytes = 256

/** A program that mounts its memory at a folder, and ends when that is unmounted. */
interface Contender {
  readonly name: string
  start(mountpoint: string): ChildProcess
}

const program = join(here, '..', 'test', 'support', 'serve-memory.js')
const served = (driver: string) => (mountpoint: string) =>
  fork(program, [JSON.stringify({ mountpoint, driver, isPlain: true })], { cwd: '/', stdio: 'inherit' })

async function findContenders(): Promise<Contender[]> {
  const found: Contender[] = [{ name: 'kernel driver', start: served('kernel') }]
  try {
    const optional: string = 'fuse-native'
    await import(optional)
    found.push({ name: 'fuse-native', start: served('fuse-native') })
  } catch {
    console.error('fuse-native does not load here: left out')
  }
  const yardstick = process.env['BENCH_DRIVER_YARDSTICK'] ?? ''
  if (yardstick === '') console.error('no compiler or no libfuse3-dev: the C yardstick is left out')
  else {
    found.push({
      name: 'C, libfuse 3',
      start: (mountpoint) => spawn(yardstick, [mountpoint], { cwd: '/', stdio: 'inherit' }),
    })
  }
  return found
}

type Measures = Record<string, number>

async function client(args: string[], cpu?: number): Promise<Measures> {
  const command = [process.execPath, join(here, 'bench-driver-client.js'), ...args]
  const [file = '', ...rest] = cpu === undefined ? command : ['taskset', '-c', String(cpu), ...command]
  return JSON.parse((await run(file, rest, { cwd: '/' })).stdout) as Measures
}

async function timed(line: string, ...args: string[]): Promise<number> {
  const start = performance.now()
  await run('bash', ['-euc', line, 'bash', ...args], { cwd: '/' })
  return performance.now() - start
}

async function measure(mountpoint: string, pid: number): Promise<Measures> {
  const at = (name: string): string => join(mountpoint, name)
  await run('touch', [at('file')])
  const alone = await client(['round-trips', at('file'), '1500'])
  const four = await Promise.all([1, 2, 3, 4].map(() => client(['round-trips', at('file'), '1500'])))
  await run('taskset', ['-acp', '0', String(pid)])
  const sameCpu = await client(['round-trips', at('file'), '1500'], 0)
  await run('taskset', ['-acp', `0-${cpus().length - 1}`, String(pid)])

  await timed(
    'mkdir "$1"; cd "$1"; seq -f document-%05g.txt "$2" | xargs touch',
    at('many'),
    String(listedFiles),
  )
  // The first listing compiles our code; a drive that is used has that behind it.
  const lists: number[] = []
  for (let times = 0; times < 5; times++) {
    await forgetAll()
    lists.push(await timed('ls -l "$1" > "$2"', at('many'), '/dev/null'))
  }

  const count = String(megabytes)
  const writeMs = await timed('dd if=/dev/zero of="$1" bs=1M count="$2" status=none', at('large'), count)
  const smallMs = await timed('dd if=/dev/zero of="$1" bs=4k count=8192 status=none', at('small'))
  await run('dd', [`if=${at('large')}`, 'iflag=nocache', 'count=0', 'status=none'])
  const readMs = await timed('dd if="$1" of=/dev/null bs=1M status=none', at('large'))
  await run('mkdir', [at('new')])
  const created = await client(['creations', at('new'), '3000'])

  return {
    'getattr, same CPU (µs)': sameCpu['medianUs'] ?? Number.NaN,
    'getattr (µs)': alone['medianUs'] ?? Number.NaN,
    'getattr, 4 clients (1/s)': four.reduce((sum, one) => sum + (one['perSecond'] ?? Number.NaN), 0),
    'ls -l of 10,000 (ms)': median(lists),
    'read 1M (MB/s)': (megabytes * 1000) / readMs,
    'write 1M (MB/s)': (megabytes * 1000) / writeMs,
    'write 4k (MB/s)': (32 * 1000) / smallMs,
    'create+write+close (µs)': created['medianUs'] ?? Number.NaN,
  }
}

/** Drops what the kernel remembers, so that each listing asks anew; only root may. */
async function forgetAll(): Promise<void> {
  if (process.getuid?.() === 0) await run('sh', ['-c', 'echo 2 > /proc/sys/vm/drop_caches'])
}

async function isMounted(path: string): Promise<boolean> {
  return (await readFile('/proc/self/mountinfo', 'utf8')).includes(` ${path} `)
}

async function measureOnce(contender: Contender): Promise<Measures> {
  const mountpoint = await mkdtemp(join(tmpdir(), 'docmount-bench-'))
  const child = contender.start(mountpoint)
  const ended = once(child, 'exit')
  try {
    for (let tries = 0; !(await isMounted(mountpoint)); tries++) {
      if (tries > 200) throw new Error(`${contender.name} does not mount`)
      await sleep(50)
    }
    await access(mountpoint)
    return await measure(mountpoint, child.pid ?? 0)
  } finally {
    await run('umount', ['-l', mountpoint], { cwd: '/' })
    child.kill('SIGKILL')
    await ended
    await rmdir(mountpoint)
  }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

function table(results: Map<string, Measures[]>): string {
  const names = [...results.keys()]
  const rows = Object.keys(results.get(names[0] ?? '')?.[0] ?? {}).map((measured) => {
    const cells = names.map((name) => {
      const value = median((results.get(name) ?? []).map((one) => one[measured] ?? Number.NaN))
      return value >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
    })
    return `| ${measured} | ${cells.join(' | ')} |`
  })
  return [`| | ${names.join(' | ')} |`, `|---|${names.map(() => '--:|').join('')}`, ...rows].join('\n')
}

const contenders = await findContenders()
const results = new Map<string, Measures[]>(contenders.map(({ name }) => [name, []]))
// In turn, so that a busy moment of the machine meets all of them.
for (let round = 0; round < rounds; round++) {
  for (const contender of contenders) {
    results.get(contender.name)?.push(await measureOnce(contender))
    console.error(`round ${round + 1} of ${rounds}: ${contender.name}`)
  }
}
console.log(
  `Medians of ${rounds} rounds; Linux ${release()} ${arch()}, ${cpus().length} CPUs, Node ${process.version}\n`,
)
console.log(table(results))
