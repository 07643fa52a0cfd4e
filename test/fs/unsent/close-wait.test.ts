// How long a close waits, and what it does not wait for.

import { expect, it } from 'vitest'
import { openHeld } from '../../support/open-held.ts'

it('a close does not wait for what is written again meanwhile: that may wait for the close', async () => {
  await using drive = await openHeld({}, { closeWaitMs: Infinity })
  const file = await drive.calls().open('/a.txt', 'w')
  await file.write('accepted', 0)
  drive.hold('/a.txt')
  const closing = file.close()
  await drive.reached('/a.txt')
  await drive.calls().truncate('/a.txt', 3)
  drive.release()
  await closing
  await drive.drain()
  expect((await drive.testService.other.bytes('/a.txt')).toString()).toBe('acc')
})
