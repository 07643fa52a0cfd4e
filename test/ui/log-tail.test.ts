// The end of a log, as the page shows it.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { logTail } from '../../src/ui/log-tail.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'

const line = (msg: string): string =>
  JSON.stringify({ level: 'info', time: '2026-11-22T12:30:01.000Z', path: '/a.txt', msg })

test('whole lines of the end, as people read them', async () => {
  const folder = await makeTemporaryFolder()
  const file = join(folder.path, 'log')
  await writeFile(file, `${line('one')}\nnot JSON\n`)
  expect(await logTail(file)).toEqual(['12:30:01 info  one  path=/a.txt', 'not JSON'])
  const many = Array.from({ length: 1000 }, (_, number) => line(`number ${number}`))
  await writeFile(file, `${many.join('\n')}\n`)
  const tail = await logTail(file)
  expect(tail).toHaveLength(60)
  expect(tail.at(-1)).toContain('number 999')
  await folder.remove()
})

test('a log that cannot be read, or is none, is said', async () => {
  expect(await logTail(undefined)).toEqual(['this drive logs into no file: see where it was started'])
  expect(await logTail('/nowhere/log')).toEqual(['/nowhere/log cannot be read: ENOENT'])
})
