import { execFileSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { KeySource } from '../../src/api/types.ts'
import { readConfiguration } from '../../src/cli/config-file.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
let file: string
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  file = join(temporary.path, 'config.json')
})
afterEach(() => temporary.remove())

async function read(config: object | string | undefined, env: object = {}, project = 'acme') {
  if (config !== undefined) {
    await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config), { mode: 0o600 })
  }
  return readConfiguration(project, { HOME: temporary.path, DOCMOUNT_CONFIG: file, ...env })
}

async function keyOf(source: KeySource | undefined): Promise<string | undefined> {
  return typeof source === 'object' ? source.read() : source
}

test('without a file and without an environment nothing is configured', async () => {
  expect(await read(undefined)).toEqual({ baseUrl: undefined, key: undefined })
})

test("a project's own section comes before the top, the environment before both", async () => {
  const config = {
    base_url: 'http://top/api',
    api_key: 'top',
    projects: { acme: { base_url: 'http://own/api', api_key: 'own' } },
  }
  expect(await read(config)).toEqual({ baseUrl: 'http://own/api', key: 'own' })
  expect(await read(config, {}, 'other')).toEqual({ baseUrl: 'http://top/api', key: 'top' })
  const env = { DOCMOUNT_BASE_URL: 'http://env/api', DOCMOUNT_API_KEY: 'env' }
  expect(await read(config, env)).toEqual({ baseUrl: 'http://env/api', key: 'env' })
})

test('a key file is read anew each time, so that a rotated key is picked up', async () => {
  const keyFile = join(temporary.path, 'key')
  await writeFile(keyFile, 'first\n', { mode: 0o600 })
  const { key } = await read(undefined, { DOCMOUNT_API_KEY_FILE: keyFile })
  expect(await keyOf(key)).toBe('first')
  await writeFile(keyFile, 'second\n')
  expect(await keyOf(key)).toBe('second')
})

test("a key file under ~ lies in the person's home", async () => {
  await writeFile(join(temporary.path, 'key'), 'mine', { mode: 0o600 })
  expect(await keyOf((await read({ api_key_file: '~/key' })).key)).toBe('mine')
})

test('a pipe or a device is not waited for', async () => {
  const pipe = join(temporary.path, 'pipe')
  execFileSync('mkfifo', ['-m', '600', pipe])
  for (const path of [pipe, '/dev/zero']) {
    const { key } = await read({ api_key_file: path })
    await expect(keyOf(key)).rejects.toThrow(`cannot read the key file ${path}: it is a pipe or a device`)
  }
  const given = readConfiguration('acme', { HOME: temporary.path, DOCMOUNT_CONFIG: pipe })
  await expect(given).rejects.toThrow(`cannot read ${pipe}: it is a pipe or a device`)
})

test('a missing or empty key file is said so', async () => {
  const missing = await read({ api_key_file: '/nowhere/key' })
  await expect(keyOf(missing.key)).rejects.toThrow('cannot read the key file /nowhere/key: ENOENT')
  await writeFile(join(temporary.path, 'key'), '\n', { mode: 0o600 })
  await expect(keyOf((await read({ api_key_file: '~/key' })).key)).rejects.toThrow(/is empty/)
})

test('a file that holds a key and is open to others is refused with the command that fixes it', async () => {
  await read({ api_key: 'secret' })
  await chmod(file, 0o644)
  await expect(read(undefined)).rejects.toThrow(`run: chmod 600 ${file}`)
})

test.each([
  ['{', /not valid JSON/],
  ['[]', /must be a JSON object/],
  ['{"base_url": 1}', /"base_url" must be a non-empty text/],
  ['{"projects": []}', /"projects" must be a JSON object/],
  ['{"projects": {"acme": 1}}', /"projects"\."acme" must be a JSON object/],
])('the file %j is refused with the reason', async (text, reason) => {
  await expect(read(text)).rejects.toThrow(reason)
})
