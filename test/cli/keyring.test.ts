// `docmount login --keyring`, with a real keyring on a bus of its own where those are installed.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { bareHomeIn } from '../support/home.ts'
import { bash, isInstalled, run } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const programs = ['secret-tool', 'gnome-keyring-daemon', 'dbus-run-session']

let service: TestService
let home: TemporaryFolder
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())
beforeEach(async () => {
  home = await makeTemporaryFolder()
  await writeFile(join(home.path, 'key'), service.apiKey)
  return () => home.remove()
})

const environment = (): NodeJS.ProcessEnv => bareHomeIn(home.path)

/** The keyring holds the key, the file does not, and the next command finds it. */
const session = `
printf secret | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null
"$1" "$2" login --base-url "$3" --key-stdin --keyring <"$HOME/key"
"$1" "$2" projects
secret-tool clear application docmount
"$1" "$2" projects || true`

test.skipIf(!programs.every(isInstalled))('the key is kept in the keyring, and nowhere else', async () => {
  const args = ['bash', '-euc', session, 'bash', process.execPath, cli, service.baseUrl]
  const { stdout, stderr } = await run('dbus-run-session', ['--', ...args], { env: environment() })
  expect(stdout).toContain('kept in the keyring')
  expect(stdout).toMatch(/^acme\s/m)
  expect(stderr).toContain(`the keyring has no key for ${service.baseUrl} acme; run docmount login --keyring`)
  const config = await readFile(join(home.path, '.config/docmount/config.json'), 'utf8')
  expect(config).not.toContain(service.apiKey)
  expect(JSON.parse(config)).toMatchObject({
    projects: { acme: { base_url: service.baseUrl, api_key_keyring: `${service.baseUrl} acme` } },
  })
})

test('without a keyring it says what is missing, and keeps nothing', async () => {
  // A PATH with no program at all.
  const line = `PATH="$HOME" "$1" "$2" login --base-url "$3" --key-stdin --keyring <"$HOME/key"`
  const args = [process.execPath, cli, service.baseUrl]
  const { code, stderr } = await bash(line, args, { env: environment(), mayFail: true })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('install secret-tool') })
  await expect(readFile(join(home.path, '.config/docmount/config.json'))).rejects.toThrow('ENOENT')
})
