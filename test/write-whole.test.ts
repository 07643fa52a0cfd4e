import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeWhole } from '../src/write-whole.ts'
import { makeTemporaryFolder } from './support/temporary-folder.ts'

test('a file that is written whole replaces the old one, and is its owner’s alone', async () => {
  const folder = await makeTemporaryFolder()
  onTestFinished(() => folder.remove())
  const file = join(folder.path, 'mark')
  await writeWhole(file, 'a longer first content')
  await writeWhole(file, Buffer.from('second'))
  expect(await readFile(file, 'utf8')).toBe('second')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(folder.path)).toEqual(['mark'])
})

test('where it cannot be written, what was there stays', async () => {
  const folder = await makeTemporaryFolder()
  onTestFinished(() => folder.remove())
  await expect(writeWhole(join(folder.path, 'missing', 'mark'), 'x')).rejects.toMatchObject({
    code: 'ENOENT',
  })
  expect(await readdir(folder.path)).toEqual([])
})
