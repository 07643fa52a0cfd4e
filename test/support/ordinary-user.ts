// An ordinary user for tests: a user made for them if root runs the tests, else the user that runs them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bash, isInstalled, type Ran, type User } from './run.ts'
import { whyNoFuse } from './fuse.ts'

export const isRoot: boolean = process.getuid?.() === 0

/** Returns why an ordinary user cannot mount here; undefined if one can. */
export function whyNoUserMount(): string | undefined {
  if (!isInstalled('fusermount3')) return 'fusermount3 is not installed'
  return (isRoot ? whyNoUser() : undefined) ?? whyNoFuse()
}

function whyNoUser(): string | undefined {
  const missing = ['useradd', 'userdel', 'flock'].filter((program) => !isInstalled(program))
  if (missing.length > 0) return `${missing.join(', ')} missing: no user can be made`
  const repository = new URL('../..', import.meta.url).pathname
  for (const needed of [process.execPath, repository, tmpdir()]) {
    for (let path = realpathSync(needed); path !== '/'; path = dirname(path)) {
      if ((statSync(path).mode & 0o001) === 0)
        return `${path} is closed to other users: they cannot use ${needed}`
    }
  }
  return undefined
}

export interface OrdinaryUser extends User {
  /** Runs a line of bash as the user, with `$1 …` set to `args`. */
  bash(line: string, ...args: string[]): Promise<Ran>
  remove(): Promise<void>
}

export async function makeOrdinaryUser(): Promise<OrdinaryUser> {
  const kept = isRoot ? await startKeeper() : undefined
  const user: User = kept?.user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  return {
    ...user,
    bash: (line, ...args) => bash(line, args, isRoot ? { user } : {}),
    remove: async () => kept?.end(),
  }
}

/**
 * Shell script that makes the user, and lets all users open /dev/fuse, which a bare machine may not. It prints uid and gid, and
 * undoes both when its stdin ends, so also if the test is killed. Test runs may overlap: each holds a shared lock on `users`,
 * and the run that gets the exclusive lock is the last, and cleans up.
 */
const keeper = `
set -eu
trap '' INT TERM HUP
name=docmount-test device=/dev/fuse state=/run/docmount-test
mkdir -p "$state"
exec 8>"$state/turn" 9>"$state/users"
flock 8
flock -s 9
id "$name" >"$state/log" 2>&1 || useradd --system --no-create-home "$name"
mode=$(stat -c %a "$device")
case $mode in *[67]) ;; *) echo "$mode" >"$state/mode"; chmod 666 "$device" ;; esac
flock -u 8
echo "$(id -u "$name") $(id -g "$name")"
read -r goodbye || true
flock 8
flock -u 9
flock -n 9 || exit 0
if [ -e "$state/mode" ]; then chmod "$(cat "$state/mode")" "$device"; fi
userdel --force "$name" >"$state/log" 2>&1
rm -r "$state"`

async function startKeeper(): Promise<{ user: User; end(): Promise<void> }> {
  const child = spawn('sh', ['-c', keeper], { cwd: '/', detached: true, stdio: 'pipe' })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'close')
  const firstOutput = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)])
  if (firstOutput === undefined) throw new Error(`no user could be made: ${stderr}`)
  const [uid = Number.NaN, gid = Number.NaN] = String(firstOutput[0]).trim().split(' ').map(Number)
  return {
    user: { uid, gid },
    async end() {
      child.stdin.end()
      await ended
      if (child.exitCode !== 0) throw new Error(`the user was not taken away: ${stderr}`)
    },
  }
}

/** Makes a folder for PATH with links to these programs only. */
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
