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

const root = new URL('../..', import.meta.url).pathname
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

const commands = `
docmount() { "${process.execPath}" "${cli}" "$@"; }
until_mounted() { for _ in $(seq 200); do grep -q " $HOME/acme .* fuse.docmount " /proc/self/mountinfo && return; sleep 0.1; done; return 1; }
shown() { systemctl --user show -p "$1" --value "$2"; }
# Waits until the unit rests, no restart pending.
until_over() { for _ in $(seq 300); do case $(shown ActiveState "$1") in inactive|failed) break ;; esac; sleep 0.1; done; echo "over: $(shown ActiveState "$1") $(shown SubState "$1")"; }
`

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

  /** Output of `program`, run with a user manager of its own. */
  async function withManager(program: string): Promise<string> {
    const { stdout } = await bash(
      'unshare --mount --pid --mount-proc --fork --kill-child bash -euo pipefail -c "$1" bash "$2" "$3"',
      [withUserManager, home.path, commands + program],
      { limitMs: 280_000 },
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await readFile(join(home.path, 'manager.log'), 'utf8')}`, {
        cause: error,
      })
    })
    return stdout
  }

  it('is installed, mounts, comes back after a crash, and is removed with everything sent', async () => {
    const said = await withManager(`
docmount service install acme -- --close-wait 0
until_mounted
echo kept >"$HOME/acme/note.txt"
docmount service status
kill -9 "$(shown MainPID docmount-acme.service)"
for _ in $(seq 300); do [ "$(timeout 5 cat "$HOME/acme/note.txt" 2>/dev/null)" = kept ] && break; sleep 0.1; done
timeout 100 cat "$HOME/acme/note.txt"
docmount service remove acme
ls "$HOME/.config/systemd/user"`)
    expect(said).toContain(`acme is mounted at ${home.path}/acme`)
    expect(said).toContain('docmount-acme.service: active')
    expect(said).toContain('kept')
    expect(said).toContain('acme is not mounted any more')
    expect(await service.other.bytes('/note.txt')).toEqual(Buffer.from('kept\n'))
  })

  it('opens a folder by the user manager: it knows the screen, and the folder outlasts the unit', async () => {
    const said = await withManager(`
mkdir "$HOME/bin"
printf '%s\n' '#!/bin/sh' 'echo "$1 on $DISPLAY in $(cat /proc/self/cgroup)" >"$HOME/opened"' >"$HOME/bin/xdg-open"
chmod +x "$HOME/bin/xdg-open"
systemctl --user set-environment DISPLAY=:7
PATH="$HOME/bin:$PATH" NOTIFY_SOCKET=/none "${process.execPath}" --input-type=module -e 'await (await import("${root}dist/ui/open-on-desktop.js")).openOnDesktop("/a folder")'
for _ in $(seq 300); do [ -s "$HOME/opened" ] && break; sleep 0.1; done
cat "$HOME/opened"`)
    expect(said).toMatch(/^\/a folder on :7 in .*run-.*\.service$/m)
  })

  it.each([
    ['docmount service install', 'docmount-acme.service', 'docmount service install acme'],
    [
      "the package's unit",
      'docmount@acme.service',
      `mkdir -p "$HOME/.config/systemd/user"
       sed 's|/usr/bin/docmount|"${process.execPath}" "${cli}"|' "${root}scripts/debian/docmount@.service" >"$HOME/.config/systemd/user/docmount@.service"
       systemctl --user daemon-reload
       systemctl --user enable --now docmount@acme.service`,
    ],
  ])('by %s stays unmounted until the next login, once it is unmounted', async (_name, unit, install) => {
    const said = await withManager(`
${install}
until_mounted
docmount unmount "$HOME/acme" 2>&1
until_over ${unit}
docmount service status
systemctl --user start ${unit}
until_mounted
timeout 100 umount "$HOME/acme"
until_over ${unit}
systemctl --user start ${unit}
until_mounted
kill -9 "$(shown MainPID ${unit})"
for _ in $(seq 300); do [ "$(shown NRestarts ${unit})" = 1 ] && [ "$(shown ActiveState ${unit})" = active ] && break; sleep 0.1; done
echo "mounted again: $(shown NRestarts ${unit})"
until_mounted
docmount service remove acme
until_over ${unit}
systemctl --user is-enabled ${unit} || true`)
    expect(said.split('\n')).toEqual(
      expect.arrayContaining([
        'docmount: acme stays unmounted until the next login; docmount service remove acme ends it',
        expect.stringMatching(new RegExp(`^${unit}: inactive.*until the next login`)),
        'mounted again: 1',
      ]),
    )
    expect(said.match(/^over: .*$/gm)).toEqual(Array(3).fill('over: inactive dead'))
    expect(said).toMatch(/^(disabled|not-found)?$/m)
  })

  it('is not mounted again because something stayed unsent', async () => {
    const said = await withManager(`
docmount service install acme -- --close-wait 0 --bwlimit 1k
until_mounted
head -c 300000 /dev/zero | tr '\\0' a >"$HOME/acme/large.txt"
docmount unmount "$HOME/acme" --timeout 1s || echo "unmount: $?"
until_over docmount-acme.service
docmount service status
docmount service remove acme`)
    expect(said).toContain('unmount: 1\nover: failed failed\n')
    expect(said).toMatch(/^docmount-acme\.service: failed \(.*not sent/m)
  })

  it('that cannot start says why, also where systemd then refuses to stop it, and the former unit is there again', async () => {
    const said = await withManager(`
docmount service install acme >/dev/null
until_mounted
mkdir -p "$HOME/bin"
printf '%s\n' '#!/bin/sh' 'case "$*" in *stop*) echo "not now" >&2; exit 1 ;; esac' "exec $(command -v systemctl) \\"\\$@\\"" >"$HOME/bin/systemctl"
chmod +x "$HOME/bin/systemctl"
touch "$HOME/file"
PATH="$HOME/bin:$PATH" docmount service install acme -- --cache-dir "$HOME/file/cache" 2>&1 || echo "code $?"
grep -c cache-dir "$HOME/.config/systemd/user/docmount-acme.service" || true
docmount service remove acme`)
    expect(said).toMatch(/docmount-acme\.service is not as it was before: .*stop.*not now/)
    expect(said).toMatch(/^docmount: .*file\/cache.*\ncode 1\n0\n/m)
  })

  it('that cannot start leaves no unit, and says why', async () => {
    const said = await withManager(`
try() { docmount service install "$@" 2>&1 || echo "code $?"; ls "$HOME/.config/systemd/user" 2>/dev/null | grep ^docmount- || true; }
try nothing
mkdir -p "$HOME/full" && touch "$HOME/full/mine.txt"
try acme "$HOME/full"
try acme -- --close-wait soon
try acme -- --colour
systemctl --user list-units --all --plain --no-legend 'docmount*'
docmount mount acme
try acme
docmount unmount acme
docmount service install acme >/dev/null
try acme -- --cache-dir "$HOME/full/mine.txt/cache"
docmount service status
docmount service remove acme`)
    expect(said).toMatch(/^docmount: the project "nothing" cannot be read .*the key sees: acme\ncode 1\n/)
    expect(said).toMatch(/^docmount: .*full.* mine\.txt.*\ncode 1\n/m)
    expect(said).toMatch(/'soon'.*\ncode 2\ndocmount: unknown option '--colour'\ncode 2\n(?!docmount-)/)
    expect(said).toMatch(
      /acme is mounted .*\n.*mounted .*docmount unmount .*\ncode 1\n(?!docmount-acme\.service$)/,
    )
    expect(said).toMatch(
      /mine\.txt\/cache.*\ncode 1\ndocmount-acme\.service\n[^]*docmount-acme\.service: active\n/,
    )
  })
})
