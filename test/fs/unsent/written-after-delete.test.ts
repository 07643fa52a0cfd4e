// A document that is written after it was deleted, while it is open, is not found again after a kill.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { patternedBytes } from '../../support/bytes.ts'
import { useState } from './state-setup.ts'

const state = useState()
const content = patternedBytes(3_000_000, 'goes while it comes')

const spooled = (): string[] =>
  readdirSync(join(state.stateDir, 'spool')).filter((name) => name !== 'known.json')

async function expectNothingAfterAKill(): Promise<void> {
  expect(spooled()).not.toEqual([])
  await state.end()
  await state.start()
  expect(state.fileSystem.status().lost).toEqual([])
  expect(spooled()).toEqual([])
}

it('after it was sent', async () => {
  await state.start()
  const file = await state.calls.open('/a.pdf', 'w+')
  await file.write(content, 0)
  await file.sync()
  await state.fileSystem.wait('/', { timeoutMs: 60_000 })
  await state.calls.unlink('/a.pdf')
  await file.write('changed', 100)
  await expectNothingAfterAKill()
})

it('while what was saved of it waits, so that the write goes to a copy', async () => {
  await state.start()
  const file = await state.calls.open('/a.pdf', 'w+')
  await file.write(content, 0)
  await state.service.stop()
  await file.sync()
  await state.calls.unlink('/a.pdf')
  await file.write('changed', 100)
  await state.service.start()
  await expectNothingAfterAKill()
})
