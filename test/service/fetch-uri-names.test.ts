// A name that leads to a public address when it is looked at and to this machine when it is connected to (DNS rebinding).

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ownMounts } from '../support/own-mounts.ts'
import { isInstalled } from '../support/run.ts'
import { type CompiledCommand, compileCommand } from './compiled-command.ts'

interface Outcome {
  readonly outcomes: Readonly<Record<string, readonly string[]>>
  readonly innerRequests: number
}

let command: CompiledCommand
beforeAll(async () => {
  command = await compileCommand()
})
afterAll(() => command.remove())

test.skipIf(process.getuid?.() !== 0 || !['unshare', 'ip'].every(isInstalled))(
  'a copy is made from the address that was looked at, never from one a name leads to later',
  async () => {
    const resolver = join(command.folder, 'resolv.conf')
    await writeFile(resolver, 'nameserver 127.0.0.1\n')
    const quoted = [
      process.execPath,
      new URL('rebinding.mjs', import.meta.url).pathname,
      join(command.folder, 'dist/service/index.js'),
      join(command.folder, 'data'),
    ].map((word) => `'${word}'`)
    const script = [
      `${ownMounts}true`,
      'ip link set lo up',
      'ip address add 8.8.8.8/32 dev lo',
      `mount --bind '${resolver}' "$(realpath /etc/resolv.conf)"`,
      `exec ${quoted.join(' ')}`,
    ].join(' && ')
    const { stdout } = await promisify(execFile)('unshare', ['--net', '--mount', 'sh', '-c', script])
    const refused = 'the uri leads to a private address'
    const { outcomes, innerRequests } = JSON.parse(stdout) as Outcome
    expect(innerRequests).toBe(0)
    // The resolver repeats a query whose answer is late, which takes one turn more: outcomes are compared as sets.
    expect(new Set(Object.values(outcomes).flat())).toEqual(new Set(['public', refused]))
    for (const found of Object.values(outcomes)) expect(found).toContain(refused)
    expect(outcomes['both at once']).toEqual([refused])
  },
)
