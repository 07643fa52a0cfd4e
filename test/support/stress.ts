// One worker of the stress test: mixed operations in folders of its own and one shared with the others, by a seed. Keeps
// what its own folder must hold and compares at the end. A program of its own: `stress.js FOLDER SEED DURATION_MS`.

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
const own = join(folder, `worker-${seed}`)
const shared = join(folder, 'shared')
const expected = new Map<string, Buffer>()

let state = Number(seed)
/** A whole number below `limit`: mulberry32. */
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

/** A name in use, or undefined while there is none. */
function anyName(): string | undefined {
  return [...expected.keys()][random(Math.max(1, expected.size))]
}

const onOwnFiles: ((name: string) => void)[] = [
  (name) => {
    const added = bytes()
    appendFileSync(join(own, name), added)
    expected.set(name, Buffer.concat([expected.get(name) ?? Buffer.alloc(0), added]))
  },
  (name) => {
    const size = random(8000)
    truncateSync(join(own, name), size)
    expected.set(name, Buffer.concat([expected.get(name) ?? Buffer.alloc(0), Buffer.alloc(8000)], size))
  },
  (name) => {
    const other = `file-${random(40)}`
    if (other === name) return
    renameSync(join(own, name), join(own, other))
    expected.set(other, expected.get(name) ?? Buffer.alloc(0))
    expected.delete(name)
  },
  (name) => {
    unlinkSync(join(own, name))
    expected.delete(name)
  },
  (name) => check(name),
  (name) => {
    if (statSync(join(own, name)).size !== expected.get(name)?.length) throw new Error(`${name}: wrong size`)
  },
]

function check(name: string): void {
  if (!readFileSync(join(own, name)).equals(expected.get(name) ?? Buffer.alloc(0))) {
    throw new Error(`${own}/${name} does not hold what was written`)
  }
}

/** Others do the same at the same time: only losing a race is allowed to fail. */
function disturb(): void {
  const name = join(shared, `common-${random(20)}`)
  try {
    const acts = [
      () => writeFileSync(name, bytes()),
      () => unlinkSync(name),
      () => renameSync(name, join(shared, `common-${random(20)}`)),
      () => mkdirSync(name),
      () => rmSync(name, { recursive: true }),
      () => void readdirSync(shared),
      () => void readFileSync(name),
    ]
    acts[random(acts.length)]?.()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const lost = ['ENOENT', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EPERM', 'ERR_FS_EISDIR', 'EINVAL']
    if (!lost.includes(code)) throw error
  }
}

mkdirSync(own)
for (const end = Date.now() + Number(durationMs); Date.now() < end;) {
  const name = anyName()
  const choice = random(10)
  if (choice < 2 || name === undefined) {
    const made = `file-${random(40)}`
    const content = bytes()
    writeFileSync(join(own, made), content)
    expected.set(made, content)
  } else if (choice < 8) onOwnFiles[random(onOwnFiles.length)]?.(name)
  else disturb()
}

const names = readdirSync(own).sort()
if (names.join() !== [...expected.keys()].sort().join()) throw new Error(`${own} lists other names`)
for (const name of names) check(name)
