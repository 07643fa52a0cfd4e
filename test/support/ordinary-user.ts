// An ordinary user for tests: made for them where root runs them, otherwise who runs them.

import { chmod, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { User } from './memory-mount.ts'
import { isInstalled, run, type Ran } from './run.ts'
import { whyNoFuse } from './fuse.ts'

const isRoot = process.getuid?.() === 0
const userName = 'docmount-test'

/** Why no ordinary user can mount here; undefined where one can. */
export function whyNoUserMount(): string | undefined {
  if (!isInstalled('fusermount3')) return 'fusermount3 is not installed'
  if (isRoot && !(isInstalled('useradd') && isInstalled('setpriv'))) return 'useradd or setpriv is missing'
  return whyNoFuse()
}

export interface OrdinaryUser extends User {
  /** Runs a line of bash as the user, with `$1 …` set to `args`. */
  bash(line: string, ...args: string[]): Promise<Ran>
  remove(): Promise<void>
}

export async function makeOrdinaryUser(): Promise<OrdinaryUser> {
  if (isRoot) await run('useradd', ['--system', '--no-create-home', userName], { mayFail: true })
  const idOf = async (flag: string): Promise<number> =>
    Number((await run('id', isRoot ? [flag, userName] : [flag])).stdout)
  const uid = await idOf('-u')
  const gid = await idOf('-g')
  const closeDevice = isRoot ? await openDeviceToUsers() : undefined
  const become = isRoot ? ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'] : ['env']
  return {
    uid,
    gid,
    bash(line, ...args) {
      const [program = '', ...rest] = [...become, 'bash', '-euo', 'pipefail', '-c', line, 'bash', ...args]
      return run(program, rest)
    },
    async remove() {
      await closeDevice?.()
      if (isRoot) await run('userdel', [userName], { mayFail: true })
    },
  }
}

/** Every distribution opens /dev/fuse to all users; a bare machine may not have. */
async function openDeviceToUsers(): Promise<() => Promise<void>> {
  const { mode } = await stat('/dev/fuse')
  await chmod('/dev/fuse', 0o666)
  return () => chmod('/dev/fuse', mode & 0o7777)
}

/** A folder for PATH with these programs of the system and no others. */
export async function makePath(
  programs: readonly string[],
): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'docmount-path-'))
  await chmod(path, 0o755)
  for (const program of programs) {
    for (const folder of ['/usr/bin', '/bin', '/usr/sbin', '/sbin']) {
      const file = join(folder, program)
      const isThere = await stat(file).then(
        () => true,
        () => false,
      )
      if (!isThere) continue
      await symlink(file, join(path, program))
      break
    }
  }
  return { path, remove: () => rm(path, { recursive: true }) }
}
