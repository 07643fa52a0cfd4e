// `sshfs` with an sshd that is started for the benchmark on 127.0.0.1, with new keys.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, listensAt, runWell, startProgram } from '../processes.mjs'
import { copyProject, firstLineOf, missing, mountBy } from './shared.mjs'

const sshd = '/usr/sbin/sshd'

export const sshfs = {
  name: 'sshfs',
  absence: () => missing({ sshfs: 'sshfs', [sshd]: 'openssh-server' }),
  version: () => firstLineOf('sshfs', '--version'),
  async start({ folder, data, proxy, undo }) {
    const project = await copyProject(data, folder)
    // sshd needs this folder for privilege separation; the system's service would make it at boot.
    await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
    for (const name of ['host', 'user'])
      await runWell('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
    await writeFile(join(folder, 'authorized'), await readFile(join(folder, 'user.pub')))
    const port = await freePort()
    const config = [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host')}`,
      `AuthorizedKeysFile ${join(folder, 'authorized')}`,
      `PidFile ${join(folder, 'sshd.pid')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'PermitRootLogin prohibit-password',
      'Subsystem sftp internal-sftp',
    ]
    const file = join(folder, 'sshd_config')
    await writeFile(file, `${config.join('\n')}\n`)
    const program = startProgram(sshd, ['-D', '-e', '-f', file], { logFile: join(folder, 'sshd.log') })
    undo.push(() => program.stop())
    await listensAt(port, program)
    return { ...project, port: await proxy.open(port, { isSplit: true }), identity: join(folder, 'user') }
  },
  mount({ mountpoint, folder, server }) {
    const options = [
      `IdentityFile=${server.identity}`,
      'IdentitiesOnly=yes',
      'StrictHostKeyChecking=no',
      `UserKnownHostsFile=${join(folder, 'known_hosts')}`,
      'LogLevel=ERROR',
    ].flatMap((option) => ['-o', option])
    const place = ['-p', String(server.port), ...options, `root@127.0.0.1:${server.root}`, mountpoint]
    return mountBy('sshfs', ['-f', '-F', '/dev/null', ...place], { mountpoint, folder })
  },
  async emptyCache() {},
}
