// Blocks in the former format of the disk cache are still here after an update.

import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { never, readAll, useReading, type ReadingSetup } from '../read/reading-setup.ts'

const blockBytes = 128 * 1024

let setup: ReadingSetup
let cacheDir: string
useReading((made, folder) => {
  setup = made
  cacheDir = folder
})

const reader = (): ReturnType<ReadingSetup['reader']> => setup.reader({ cacheDir })

/** Turns today's files into such as the former format had. */
async function makeFormer(content: Buffer, isDamaged = false): Promise<void> {
  const today = join(cacheDir, 'blocks-2')
  for (const name of await readdir(today, { recursive: true })) {
    if (!/\.\d+$/.test(name)) continue
    const number = Number(name.split('.').at(-1))
    const data = content.subarray(number * 32 * blockBytes, (number + 1) * 32 * blockBytes)
    const table: Buffer[] = []
    for (let at = 0; at < data.length; at += blockBytes) {
      const bytes = data.subarray(at, at + blockBytes)
      const entry = Buffer.alloc(16)
      entry.writeUInt32LE(bytes.length, 0)
      entry.writeUInt32LE(crc32(bytes), 4)
      entry.writeUInt32LE(crc32(entry.subarray(0, 12)), 12)
      table.push(entry)
    }
    const file = Buffer.concat([data, Buffer.alloc((16 - (data.length % 16)) % 16), ...table])
    if (isDamaged) file[100]! ^= 1
    const former = join(cacheDir, 'blocks-1', name)
    await mkdir(dirname(former), { recursive: true })
    await writeFile(former, file)
  }
  await rename(today, join(cacheDir, 'away'))
}

test.each([
  ['a small document', 8_000],
  ['a document of exactly one block', blockBytes],
  ['one of several files', 9 * 1024 * 1024 + 7],
])('%s is read without the service', async (name, size) => {
  const { version, bytes } = await setup.store(`/${name}.bin`, size)
  const before = reader()
  await readAll(before.open(version))
  await before.close()
  await makeFormer(bytes)
  // The blocks of before the update are all there is: the service fails.
  setup.service.faults.inject({ kind: 'status', status: 500 })
  const closing = reader()
  await closing.close()
  const after = reader()
  expect((await readAll(after.open(version))).equals(bytes)).toBe(true)
  await after.close()
  expect(existsSync(join(cacheDir, 'blocks-1'))).toBe(false)
})

test('what is damaged is fetched again, and what is cut off is left out', async () => {
  const { version, bytes } = await setup.store('/damaged.bin', 3 * blockBytes)
  const before = reader()
  await readAll(before.open(version))
  await before.close()
  await makeFormer(bytes, true)
  const cut = join(cacheDir, 'blocks-1', '00', `${'0'.repeat(40)}.0`)
  await mkdir(dirname(cut), { recursive: true })
  await writeFile(cut, await readFile(join(cacheDir, 'blocks-1', await firstFile())))
  await truncate(cut, 1_000)
  const closing = reader()
  await closing.close()
  const after = reader()
  const reading = after.open(version)
  expect((await readAll(reading)).equals(bytes)).toBe(true)
  setup.service.faults.inject({ kind: 'status', status: 500 })
  expect(
    Buffer.concat(await reading.read(blockBytes, 10, { signal: never })).equals(
      bytes.subarray(blockBytes, blockBytes + 10),
    ),
  ).toBe(true)
  await after.close()
  expect(existsSync(join(cacheDir, 'blocks-1'))).toBe(false)
})

async function firstFile(): Promise<string> {
  const names = await readdir(join(cacheDir, 'blocks-1'), { recursive: true })
  const found = names.find((name) => /\.\d+$/.test(name))
  if (found === undefined) throw new Error('there is none')
  return found
}
