// Output of `docmount service` without a systemd: the line for fstab, and JSON for a script.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { bareHomeIn } from '../support/home.ts'
import { run, type Ran } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let home: TemporaryFolder
beforeEach(async () => {
  home = await makeTemporaryFolder()
  await mkdir(join(home.path, '.config/docmount'), { recursive: true })
  const config = { base_url: 'https://service.example/api', api_key: 'key' }
  await writeFile(join(home.path, '.config/docmount/config.json'), JSON.stringify(config), { mode: 0o600 })
  return () => home.remove()
})

function docmount(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return run(process.execPath, [cli, ...args], { env: { ...bareHomeIn(home.path), ...env } })
}

test.skipIf(process.getuid?.() !== 0)(
  'the line that root prints is of a drive that others can enter, the person’s who came by sudo',
  async () => {
    const ofSudo = await docmount(['service', 'install', 'acme', '--fstab'], {
      SUDO_UID: '1000',
      SUDO_GID: '100',
    })
    expect(ofSudo.stdout).toBe(
      'acme:  /mnt/acme  docmount  base_url=https://service.example/api,allow_other,uid=1000,gid=100,_netdev,nofail  0  0\n',
    )
    const ofRoot = await docmount(['service', 'install', 'acme', '/srv/acme', '--fstab'])
    expect(ofRoot.stdout).toContain(
      'acme:  /srv/acme  docmount  base_url=https://service.example/api,allow_other,_netdev',
    )
  },
)

test('status for a script is JSON, also where no drive is mounted at login', async () => {
  expect(JSON.parse((await docmount(['service', 'status', '--json'])).stdout)).toEqual([])
})
