// `docmount service` under a real systemd user manager, in a mount namespace of its own where the machine has not booted
// with systemd.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { ownMounts } from '../support/own-mounts.ts'
import { bash, isInstalled } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const missing = ['systemctl', 'dbus-daemon', 'unshare'].filter((program) => !isInstalled(program))
const why =
  whyNoFuse() ??
  (missing.length > 0 ? `${missing.join(', ')} missing` : undefined) ??
  (process.getuid?.() === 0 ? undefined : 'only root can make a namespace for it')

/** \`$1\` the home, \`$2\` the program's lines: run with a user manager, which ends with them. */
const withUserManager = `${ownMounts}
mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system
export HOME=$1 XDG_RUNTIME_DIR=$1/run DBUS_SESSION_BUS_ADDRESS=unix:path=$1/run/bus
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME DOCMOUNT_API_KEY DOCMOUNT_BASE_URL
dbus-daemon --session --address="$DBUS_SESSION_BUS_ADDRESS" --nofork --nopidfile 2>"$1/bus.log" & bus=$!
for _ in $(seq 100); do [ -S "$1/run/bus" ] && break; sleep 0.05; done
systemd=/lib/systemd/systemd; [ -x "$systemd" ] || systemd=/usr/lib/systemd/systemd
"$systemd" --user >"$1/manager.log" 2>&1 & manager=$!
trap 'systemctl --user stop "docmount-*" || true; kill $manager $bus; wait $manager $bus || true' EXIT
for _ in $(seq 200); do systemctl --user is-system-running >"$1/state" 2>&1 || true; grep -qE "running|degraded|starting" "$1/state" && break; sleep 0.05; done
eval "$2"`

describe.skipIf(why !== undefined)(`a drive as a systemd unit${why === undefined ? '' : ` (${why})`}`, () => {
  let service: TestService
  let home: TemporaryFolder
  beforeAll(async () => {
    service = await startTestService()
    home = await makeTemporaryFolder()
    const config = join(home.path, '.config', 'docmount')
    await mkdir(config, { recursive: true })
    await mkdir(join(home.path, 'run'), { mode: 0o700 })
    const login = { base_url: service.baseUrl, api_key: service.apiKey }
    await writeFile(join(config, 'config.json'), JSON.stringify(login), { mode: 0o600 })
  })
  afterAll(async () => {
    await service?.close()
    await home?.remove()
  })

  it('is installed, mounts, comes back after a crash, and is removed with everything sent', async () => {
    const program = `
docmount() { "${process.execPath}" "${cli}" "$@"; }
until_mounted() { for _ in $(seq 200); do grep -q " $HOME/acme fuse.docmount" /proc/self/mountinfo && return; grep -q " $HOME/acme .* fuse.docmount " /proc/self/mountinfo && return; sleep 0.1; done; return 1; }
docmount service install acme -- --close-wait 0
until_mounted
echo kept >"$HOME/acme/note.txt"
docmount service status
kill -9 "$(systemctl --user show -p MainPID --value docmount-acme.service)"
for _ in $(seq 300); do [ "$(timeout 5 cat "$HOME/acme/note.txt" 2>/dev/null)" = kept ] && break; sleep 0.1; done
timeout 5 cat "$HOME/acme/note.txt"
docmount service remove acme
ls "$HOME/.config/systemd/user"`
    const { stdout } = await bash(
      'unshare --mount --fork bash -euo pipefail -c "$1" bash "$2" "$3"',
      [withUserManager, home.path, program],
      { limitMs: 90_000 },
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await readFile(join(home.path, 'manager.log'), 'utf8')}`, {
        cause: error,
      })
    })
    expect(stdout).toContain(`acme is mounted at ${home.path}/acme`)
    expect(stdout).toContain('docmount-acme.service: active')
    expect(stdout).toContain('kept')
    expect(stdout).toContain('acme is not mounted any more')
    expect(await service.other.bytes('/note.txt')).toEqual(Buffer.from('kept\n'))
  })
})
