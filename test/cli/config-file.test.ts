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
  expect(await read(undefined)).toMatchObject({ baseUrl: undefined, key: undefined })
})

test("a project's own section comes before the top, the environment before both", async () => {
  const config = {
    base_url: 'http://top/api',
    api_key: 'top',
    projects: { acme: { base_url: 'http://own/api', api_key: 'own' } },
  }
  expect(await read(config)).toMatchObject({ baseUrl: 'http://own/api', key: 'own' })
  expect(await read(config, {}, 'other')).toMatchObject({ baseUrl: 'http://top/api', key: 'top' })
  const env = { DOCMOUNT_BASE_URL: 'http://env/api', DOCMOUNT_API_KEY: 'env' }
  expect(await read(config, env)).toMatchObject({ baseUrl: 'http://env/api', key: 'env' })
})

test('the key at the top goes to no other URL than the one beside it', async () => {
  const own = { projects: { acme: { base_url: 'http://own/api' } } }
  expect(await read({ base_url: 'http://top/api', api_key: 'top', ...own })).toMatchObject({ key: undefined })
  expect(await read({ base_url: 'http://own/api/', api_key: 'top', ...own })).toMatchObject({ key: 'top' })
  expect(await read({ api_key: 'top', ...own })).toMatchObject({ baseUrl: 'http://own/api', key: 'top' })
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

test('options of drives are read as on the command line, a project’s own before those of all', async () => {
  const { drive, network } = await read({
    cache_size: '20GiB',
    close_wait: '1m',
    proxy: 'proxy.example:3128',
    projects: {
      acme: {
        close_wait: 0,
        unsupported_as: 'text/plain',
        ca_file: '~/ca.pem',
        read_only: true,
        notify: false,
        rename_limit: 5,
        wait: true,
        on_conflict: 'overwrite',
        driver: 'kernel',
      },
    },
  })
  expect(drive).toEqual({
    cacheSize: 20 * 2 ** 30,
    closeWait: 0,
    proxy: 'proxy.example:3128',
    unsupportedAs: 'text/plain',
    caFile: join(temporary.path, 'ca.pem'),
    readOnly: true,
    notify: false,
    renameLimit: 5,
    wait: true,
    onConflict: 'overwrite',
    driver: 'kernel',
  })
  expect(network).toEqual({ proxy: 'proxy.example:3128', caFile: join(temporary.path, 'ca.pem') })
})

test.each([
  [{ cache_size: 'a lot' }, '"cache_size": write a size like 5GiB, 100MB or 0'],
  [
    { projects: { acme: { close_wait: '5 s' } } },
    '"projects"."acme"."close_wait": write a duration like 30s, 500ms or 10m',
  ],
  [
    { projects: { other: { unsupported_as: 'docx' } } },
    '"projects"."other"."unsupported_as": write a type that the service takes',
  ],
  [{ on_conflict: 'ask' }, '"on_conflict": allowed choices are keep, overwrite'],
  [{ read_only: 'yes' }, '"read_only": write true or false'],
  [{ cache_ttl: '20m' }, '"cache_ttl": choose less than 15m'],
  [{ memory: '1MiB' }, '"memory": choose '],
  [{ ca_file: 'ca.pem' }, '"ca_file": write a path that begins with / or ~/'],
  [{ proxy: 'http://someone:secret@host:port' }, '"proxy": write http://HOST:PORT, HOST:PORT, or none'],
  [{ uid: [1000] }, '"uid": write a text or a number'],
])('a wrong value is an error that names file and field: %j', async (config, words) => {
  const error = await read(config).then(
    () => new Error('none'),
    (thrown: unknown) => thrown,
  )
  expect(String(error)).toContain(`${file}: ${words}`)
  expect(String(error)).not.toContain('secret')
})

test('a proxy’s password is a secret as a key is', async () => {
  await read({ proxy: 'http://someone:secret@proxy.example:3128' })
  await chmod(file, 0o644)
  await expect(read(undefined)).rejects.toThrow(`run: chmod 600 ${file}`)
})
