// Documents fetched ahead for a program that takes those of a folder one after another.

import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DocmountDoor } from '../../support/docmount-door.ts'
import { openObject } from '../../support/open-object.ts'
import { waitUntil } from '../../support/wait-until.ts'

const scans = Array.from({ length: 30 }, (_, at) => `/scans/${String(at).padStart(2, '0')}.pdf`)
const beside = '/beside.pdf'
const KiB = 1024
/** Too long to be fetched whole before it is opened. */
const largeBytes = Buffer.alloc(1100 * KiB, 'large')

let opened: Awaited<ReturnType<ReturnType<typeof openObject>>>
let door: DocmountDoor

beforeEach(async () => {
  opened = await openObject()(new Map([...scans, beside].map((path) => [path, Buffer.from(path)])))
  ;({ door } = opened)
  await door.readdir('/scans')
})
afterEach(() => opened.close())

/** Which parts of these were downloaded, each behind its path. */
function partsOf(paths: readonly string[]): string[] {
  const { calls } = door.testService.service
  const theirs = calls.filter(({ endpoint, path }) => endpoint === 'download' && paths.includes(path))
  return theirs.map(({ path, range }) => `${path} ${range}`).toSorted()
}

function downloads(): string[] {
  const { calls } = door.testService.service
  return calls.filter(({ endpoint }) => endpoint === 'download').map(({ path }) => path)
}

test('who reads two documents in order finds the next here, each fetched once', async () => {
  for (const path of scans.slice(0, 2)) await door.readFile(path)
  await waitUntil('the next 24 are fetched', () => downloads().length === 26)
  for (const path of scans) await door.readFile(path)
  expect(downloads().toSorted()).toEqual(scans)
})

test('who opens them in order and reads nothing, since the kernel has the pages, causes no request', async () => {
  for (const path of scans) await (await door.open(path, 'r')).close()
  await door.readFile(beside)
  expect(downloads()).toEqual([beside])
})

test.each([
  [64 * KiB, 'bytes=0-131071'],
  [200 * KiB, 'bytes=0-262143'],
])(
  'of larger ones, of which %i bytes are read each, about as much is fetched ahead',
  async (length, range) => {
    const films = Array.from({ length: 6 }, (_, at) => `/films/${at}.mp4`)
    for (const path of films) await door.testService.other.put(path, largeBytes)
    await door.remount()
    await door.readdir('/films')
    for (const path of films) {
      const file = await door.open(path, 'r')
      await file.read(length, 0)
      await file.close()
    }
    const ahead = films.slice(2)
    expect(partsOf(ahead)).toEqual(ahead.map((path) => `${path} ${range}`))
  },
)

test('what a small document before it had tells nothing of how much is wanted of a larger one', async () => {
  for (const at of [0, 1]) await door.testService.other.put(`/mixed/${at}.pdf`, Buffer.from('short'))
  await door.testService.other.put('/mixed/2.mp4', largeBytes)
  await door.remount()
  await door.readdir('/mixed')
  for (const at of [0, 1]) await door.readFile(`/mixed/${at}.pdf`)
  await waitUntil('the next is fetched', () => partsOf(['/mixed/2.mp4']).length > 0)
  expect(partsOf(['/mixed/2.mp4'])).toEqual(['/mixed/2.mp4 bytes=0-262143'])
})
