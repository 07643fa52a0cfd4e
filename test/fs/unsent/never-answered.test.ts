// A document whose upload is never answered: what is done with it meanwhile does not wait for that.

import { expect, it } from 'vitest'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** The client itself gives up after two minutes: longer than any of these waits. */
async function withUnanswered(): Promise<HeldDrive> {
  const drive = await openHeld()
  const { service } = drive.testService
  service.faults.inject({ kind: 'latency', ms: 3_600_000 }, { method: 'PUT', path: '/a.txt', times: 1 })
  await drive.calls().writeFile('/a.txt', 'first')
  await waitUntil('the upload', () => service.calls.some(({ method }) => method === 'PUT'))
  return drive
}

it.concurrent('saved again it arrives', async () => {
  await using drive = await withUnanswered()
  await drive.calls().writeFile('/a.txt', 'second')
  await waitUntil('the second', () => drive.fileSystem().unsent('/').length === 0)
  expect(await drive.testService.other.documents('/')).toEqual(new Map([['a.txt', Buffer.from('second')]]))
})

it.concurrent('deleted it is gone', async () => {
  await using drive = await withUnanswered()
  await drive.calls().unlink('/a.txt')
  await waitUntil('the delete', () => drive.fileSystem().unsent('/').length === 0)
  expect(await drive.testService.other.documents('/')).toEqual(new Map())
})

it.concurrent('holds up no other document', async () => {
  await using drive = await withUnanswered()
  await drive.calls().writeFile('/b.txt', 'b')
  await waitUntil('the other', () => drive.fileSystem().unsent('/').length === 1)
  expect(await drive.testService.other.documents('/')).toEqual(new Map([['b.txt', Buffer.from('b')]]))
})
