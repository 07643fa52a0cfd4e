// A fresh Debian 13, made by debootstrap and booted with systemd in a container (systemd-nspawn): with real Node.js, npm, apt,
// logins and user managers. It shares this machine's network, so that it reaches the services of a test.

import { spawn, type ChildProcess } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ownMounts } from './own-mounts.ts'
import { isInstalled, type Ran, run, type RunOptions } from './run.ts'

/** Packages that the README expects, and what logins need. FUSE is installed by docmount. */
const packages = 'nodejs npm git ca-certificates sudo dbus-user-session libpam-systemd'
const preparation = `
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install --yes --no-install-recommends ${packages}
for user in ann bob; do useradd --create-home --shell /bin/bash $user; done
cat >/etc/sudoers.d/ann <<'END'
ann ALL=(ALL) NOPASSWD: ALL
# This debian's certificate authorities.
Defaults env_keep += "NODE_EXTRA_CA_CERTS npm_config_cafile"
END`
/** Ends what hangs: a quiet machine takes two minutes, one with six suites beside it twenty. */
const limitMs = 2_400_000
/** Starts systemd-nspawn in a mount namespace without other tests' mounts, which it would keep busy (see own-mounts.ts). */
const nspawn = ['--mount', 'bash', '-euo', 'pipefail', '-c', `${ownMounts} exec systemd-nspawn "$@"`, 'bash']

/** Returns why this machine cannot boot a container; undefined if it can. */
export function whyNoBareDebian(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can boot a container'
  const missing = ['debootstrap', 'systemd-nspawn', 'nsenter', 'unshare'].filter(
    (program) => !isInstalled(program),
  )
  return missing.length === 0 ? undefined : `${missing.join(', ')} missing`
}

export class BareDebian {
  readonly #container: ChildProcess
  readonly #init: string
  readonly #environment: readonly string[]

  private constructor(container: ChildProcess, init: string, environment: readonly string[]) {
    this.#container = container
    this.#init = init
    this.#environment = environment
  }

  /** Makes and boots one in `folder`, which must be empty, with the users ann, who may sudo, and bob. */
  static async boot(folder: string): Promise<BareDebian> {
    const root = join(folder, 'root')
    await run('debootstrap', ['trixie', root], { limitMs })
    // Files that dpkg writes are not synced one by one: suites beside it keep the disk busy.
    await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/unsafe-io'), 'force-unsafe-io\n')
    // Masks units that would change this machine's network or clock.
    for (const unit of ['networking', 'systemd-timesyncd', 'systemd-resolved'])
      await symlink('/dev/null', join(root, 'etc/systemd/system', `${unit}.service`))
    const environment = await authoritiesOf(root)
    const args = ['--quiet', '--register=no', '--keep-unit', '--resolv-conf=copy-host', '--directory', root]
    await run('unshare', [...nspawn, ...args, 'bash', '-euo', 'pipefail', '-c', preparation], { limitMs })
    await run('mknod', ['-m', '666', join(folder, 'fuse'), 'c', '10', '229'])
    const fuse = [`--bind=${join(folder, 'fuse')}:/dev/fuse`, '--property=DeviceAllow=/dev/fuse rwm']
    const container = spawn('unshare', [...nspawn, ...args, ...fuse, '--boot'], { stdio: 'ignore' })
    const debian = new BareDebian(container, await initOf(container), environment)
    try {
      await debian.#untilUp()
      return debian
    } catch (error) {
      await debian.end()
      throw error
    }
  }

  /** Runs lines of bash as root. */
  root(lines: string, options: RunOptions = {}): Promise<Ran> {
    return this.#enter(['bash', '-euo', 'pipefail', '-c', lines], options)
  }

  /** Runs lines of bash in a login of a user: with a session, a user manager and its bus. */
  login(user: string, lines: string, options: RunOptions = {}): Promise<Ran> {
    const properties = ['--property=PAMName=login', `--property=WorkingDirectory=/home/${user}`]
    const variables = ['PATH=/usr/local/bin:/usr/bin:/bin', ...this.#environment].map(
      (each) => `--setenv=${each}`,
    )
    const runArgs = [
      '--quiet',
      '--wait',
      '--pipe',
      '--expand-environment=no',
      `--uid=${user}`,
      ...properties,
      ...variables,
    ]
    return this.#enter(['systemd-run', ...runArgs, 'bash', '-euo', 'pipefail', '-c', lines], options)
  }

  async end(): Promise<void> {
    if (this.#container.exitCode !== null) return
    const over = new Promise((resolve) => this.#container.once('exit', resolve))
    this.#container.kill('SIGTERM')
    const timer = setTimeout(() => this.#container.kill('SIGKILL'), 60_000)
    await over
    clearTimeout(timer)
  }

  #enter(command: readonly string[], options: RunOptions): Promise<Ran> {
    const inside = ['--target', this.#init, '--mount', '--pid', '--uts', '--ipc']
    const variables = [
      'HOME=/root',
      'LANG=C.UTF-8',
      'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
      ...this.#environment,
    ]
    return run('nsenter', [...inside, 'env', '-i', ...variables, ...command], { limitMs, ...options })
  }

  async #untilUp(): Promise<void> {
    for (;;) {
      const { stdout } = await this.#enter(['systemctl', 'is-system-running'], { mayFail: true })
      if (/running|degraded/.test(stdout)) return
      if (this.#container.exitCode !== null) throw new Error('the container ended')
      await sleep(200)
    }
  }
}

/** Copies this machine's own certificate authorities (a proxy may need them); returns the variables that name them. */
async function authoritiesOf(root: string): Promise<string[]> {
  const file = process.env['NODE_EXTRA_CA_CERTS']
  if (file === undefined || file === '') return []
  const place = '/usr/local/share/this-machine.pem'
  await mkdir(join(root, '/usr/local/share'), { recursive: true })
  await copyFile(file, join(root, place))
  return [`NODE_EXTRA_CA_CERTS=${place}`, `npm_config_cafile=${place}`]
}

/** Returns the pid of the container's systemd. */
async function initOf(container: ChildProcess): Promise<string> {
  const { pid } = container
  for (;;) {
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    for (const child of text.split(' ').filter((word) => word !== ''))
      if ((await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '')).trim() === 'systemd') return child
    if (container.exitCode !== null) throw new Error('the container did not boot')
    await sleep(100)
  }
}
