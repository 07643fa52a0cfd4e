import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { KeySource } from '../../src/api/types.ts'
import { lastingKey } from '../../src/cli/lasting-key.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const here = { project: 'acme', baseUrl: 'http://here/api' }
let temporary: TemporaryFolder
let config: string
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  config = join(temporary.path, 'config.json')
  vi.stubEnv('DOCMOUNT_CONFIG', config)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await temporary.remove()
})

function keep(section: object): Promise<void> {
  return writeFile(config, JSON.stringify({ projects: { acme: section } }), { mode: 0o600 })
}

/** Asked for the first time, and after a refusal. */
async function twice(key: KeySource): Promise<string[]> {
  return key === undefined || typeof key === 'string' ? [] : [await key.read(), await key.read()]
}

test('what was given comes first, and after its refusal what docmount login has kept', async () => {
  await keep({ base_url: 'http://here/api/', api_key: 'kept' })
  expect(await twice(lastingKey('given', here))).toEqual(['given', 'kept'])
})

test('a key kept for another service is not sent to this one', async () => {
  await keep({ base_url: 'http://elsewhere/api', api_key: 'theirs' })
  expect(await twice(lastingKey('given', here))).toEqual(['given', 'given'])
  await keep({ api_key: 'nobody knows whose' })
  expect(await twice(lastingKey('given', here))).toEqual(['given', 'given'])
})

test('a key file that changed comes before what is kept', async () => {
  await keep({ base_url: 'http://here/api', api_key: 'kept' })
  const keys = ['first', 'second', 'second']
  const key = lastingKey({ read: async () => keys.shift() ?? '' }, here)
  expect([...(await twice(key)), ...(await twice(key)).slice(0, 1)]).toEqual(['first', 'second', 'kept'])
})

test('without a config file, or with one that cannot be read, the refused key stays', async () => {
  expect(await twice(lastingKey('given', here))).toEqual(['given', 'given'])
  await writeFile(config, '{', { mode: 0o600 })
  expect(await twice(lastingKey('given', here))).toEqual(['given', 'given'])
})
