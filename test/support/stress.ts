// One worker process of the stress test: random operations, by a seed, in its own folder and in one that all workers share. It
// records what its own folder must contain, and compares at the end. Arguments: FOLDER SEED DURATION_MS.

import { createHash } from 'node:crypto'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const [folder = '', seed = '1', durationMs = '1000'] = process.argv.slice(2)
const ownFolder = join(folder, `worker-${seed}`)
const sharedFolder = join(folder, 'shared')
const expected = new Map<string, Buffer>()

let state = Number(seed)
/** Returns a random whole number below `limit` (mulberry32). */
function random(limit: number): number {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), state | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) % limit
}

function bytes(): Buffer {
  const size = random(10) === 0 ? random(600_000) : random(5000)
  return Buffer.alloc(size, createHash('sha1').update(`${state}`).digest())
}

/** Returns the name of a random file of this worker; undefined if there is none. */
function anyName(): string | undefined {
  return [...expected.keys()][random(Math.max(1, expected.size))]
}

const operations: ((name: string) => void)[] = [
  (name) => {
    const added = bytes()
    appendFileSync(join(ownFolder, name), added)
    expected.set(name, Buffer.concat([expected.get(name) ?? Buffer.alloc(0), added]))
  },
  (name) => {
    const size = random(8000)
    truncateSync(join(ownFolder, name), size)
    expected.set(name, Buffer.concat([expected.get(name) ?? Buffer.alloc(0), Buffer.alloc(8000)], size))
  },
  (name) => {
    const other = `file-${random(40)}`
    if (other === name) return
    renameSync(join(ownFolder, name), join(ownFolder, other))
    expected.set(other, expected.get(name) ?? Buffer.alloc(0))
    expected.delete(name)
  },
  (name) => {
    unlinkSync(join(ownFolder, name))
    expected.delete(name)
  },
  (name) => check(name),
  (name) => {
    if (statSync(join(ownFolder, name)).size !== expected.get(name)?.length)
      throw new Error(`${name}: wrong size`)
  },
]

function check(name: string): void {
  if (!readFileSync(join(ownFolder, name)).equals(expected.get(name) ?? Buffer.alloc(0))) {
    throw new Error(`${ownFolder}/${name} does not hold what was written`)
  }
}

/** Makes a random call in the shared folder. Errors of races with other workers are expected. */
function disturb(): void {
  const name = join(sharedFolder, `common-${random(20)}`)
  try {
    const calls = [
      () => writeFileSync(name, bytes()),
      () => unlinkSync(name),
      () => renameSync(name, join(sharedFolder, `common-${random(20)}`)),
      () => mkdirSync(name),
      () => rmSync(name, { recursive: true }),
      () => void readdirSync(sharedFolder),
      () => void readFileSync(name),
    ]
    calls[random(calls.length)]?.()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const races = ['ENOENT', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EPERM', 'ERR_FS_EISDIR', 'EINVAL']
    if (!races.includes(code)) throw error
  }
}

mkdirSync(ownFolder)
for (const end = Date.now() + Number(durationMs); Date.now() < end;) {
  const name = anyName()
  const choice = random(10)
  if (choice < 2 || name === undefined) {
    const made = `file-${random(40)}`
    const content = bytes()
    writeFileSync(join(ownFolder, made), content)
    expected.set(made, content)
  } else if (choice < 8) operations[random(operations.length)]?.(name)
  else disturb()
}

const names = readdirSync(ownFolder).sort()
if (names.join() !== [...expected.keys()].sort().join()) throw new Error(`${ownFolder} lists other names`)
for (const name of names) check(name)
