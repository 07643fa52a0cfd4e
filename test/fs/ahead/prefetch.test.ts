// What is fetched ahead for a program that takes the documents of a folder one after another.

import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DocmountDoor } from '../../support/docmount-door.ts'
import { openObject } from '../../support/open-object.ts'
import { waitUntil } from '../../support/wait-until.ts'

const scans = Array.from({ length: 30 }, (_, at) => `/scans/${String(at).padStart(2, '0')}.pdf`)
const beside = '/beside.pdf'

let opened: Awaited<ReturnType<ReturnType<typeof openObject>>>
let door: DocmountDoor

beforeEach(async () => {
  opened = await openObject()(new Map([...scans, beside].map((path) => [path, Buffer.from(path)])))
  ;({ door } = opened)
  await door.readdir('/scans')
})
afterEach(() => opened.close())

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
