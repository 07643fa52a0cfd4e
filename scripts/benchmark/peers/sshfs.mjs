// `sshfs` to an sshd of our own on the loopback, with keys made for this run.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isMounted, unmount } from '../mounts.mjs'
import { existsSync, freePort, has, listensAt, run, runWell, startProgram, waitFor } from '../processes.mjs'
import { processTree } from '../resources.mjs'
import { copyProject } from './plain-folder.mjs'

const sshd = '/usr/sbin/sshd'

export const sshfs = {
  name: 'sshfs',
  async absence() {
    if (!(await has('sshfs'))) return 'not installed (apt-get install sshfs)'
    return existsSync(sshd) ? undefined : 'no sshd (apt-get install openssh-server)'
  },
  async version() {
    return (await run('sshfs', ['--version'])).output.split('\n')[0]
  },
  async start({ folder, data, proxy }) {
    const project = await copyProject(data, folder)
    // sshd wants it for privilege separation; the distribution's service makes it at boot.
    await mkdir('/run/sshd', { recursive: true, mode: 0o755 })
    for (const name of ['host', 'user']) {
      await runWell('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
    }
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
    await writeFile(join(folder, 'sshd_config'), `${config.join('\n')}\n`)
    const program = startProgram(sshd, ['-D', '-e', '-f', join(folder, 'sshd_config')], {
      logFile: join(folder, 'sshd.log'),
    })
    await listensAt(port, program)
    const throughProxy = await proxy.open(port, { isSplit: true })
    return { ...project, port: throughProxy, identity: join(folder, 'user'), stop: () => program.stop() }
  },
  async mount({ mountpoint, folder, server }) {
    await mkdir(mountpoint, { recursive: true })
    const options = [
      `IdentityFile=${server.identity}`,
      'IdentitiesOnly=yes',
      'StrictHostKeyChecking=no',
      `UserKnownHostsFile=${join(folder, 'known_hosts')}`,
      'LogLevel=ERROR',
    ]
    const program = startProgram(
      'sshfs',
      [
        '-f',
        '-F',
        '/dev/null',
        '-p',
        String(server.port),
        ...options.flatMap((option) => ['-o', option]),
        `root@127.0.0.1:${server.root}`,
        mountpoint,
      ],
      { logFile: join(folder, 'sshfs.log') },
    )
    await waitFor('sshfs', () => isMounted(mountpoint), { program })
    return {
      pids: () => processTree(program.pid),
      async unmount() {
        await unmount(mountpoint)
        await program.stop()
      },
    }
  },
  async emptyCache() {},
}
