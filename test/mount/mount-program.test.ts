// Through mount(8) and fstab: the system's own program, in a mount namespace whose /sbin has our helper.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { ownMounts } from '../support/own-mounts.ts'
import { bash, isInstalled } from '../support/run.ts'
import { project } from '../support/service.ts'

const missing = ['mount', 'umount', 'unshare'].filter((program) => !isInstalled(program))
const why =
  whyNoFuse() ??
  (missing.length > 0 ? `${missing.join(', ')} missing` : undefined) ??
  (process.getuid?.() === 0 ? undefined : 'only root may mount by mount(8)')

/** `$1` the home, `$2` the program; `docmount` and the helper are ours. Its last line unmounts what is left. */
const withHelper = `${ownMounts}
mkdir -p $1/layer && mount -t tmpfs tmpfs $1/layer && mkdir $1/layer/upper $1/layer/work
mount -t overlay overlay -o lowerdir=/usr/sbin,upperdir=$1/layer/upper,workdir=$1/layer/work /usr/sbin
# mount(8) makes the drive root's: its state and cache are this test's own.
for kept in .local .cache; do mkdir -p ~root/$kept && mount -t tmpfs tmpfs ~root/$kept; done
rm -f /sbin/mount.docmount /sbin/docmount
printf '#!/bin/sh\\nexec "%s" "%s" "$@"\\n' "$NODE" "$CLI" >/sbin/docmount && chmod 755 /sbin/docmount
ln -s "$CLI" /sbin/mount.docmount
export PATH=/sbin:$(dirname "$NODE"):$PATH
drive=$1/drive
trap 'timeout 20 umount "$drive" 2>/dev/null || true; for _ in $(seq 100); do ls "$XDG_RUNTIME_DIR"/docmount/*.json >/dev/null 2>&1 || break; sleep 0.1; done' EXIT
eval "$2"`

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

async function fstab(type: string, source: string): Promise<void> {
  const options = `base_url=${desk.testService.baseUrl},_netdev,nofail,x-systemd.automount`
  await writeFile(join(desk.home, 'fstab'), `${source} ${join(desk.home, 'drive')} ${type} ${options} 0 0\n`)
}

async function within(program: string): Promise<{ stdout: string; stderr: string }> {
  const { DOCMOUNT_BASE_URL: _url, ...env } = desk.env
  return bash(
    'unshare --mount --fork bash -euo pipefail -c "$1" bash "$2" "$3"',
    [withHelper, desk.home, program],
    {
      env: { ...env, NODE: process.execPath, CLI: cli },
    },
  )
}

describe.skipIf(why !== undefined)(`a line of fstab${why === undefined ? '' : ` (${why})`}`, () => {
  test.each([
    ['docmount', `${project}:`],
    ['docmount', project],
    ['fuse.docmount', `${project}:`],
  ])('of type %s for %s mounts in silence, and a second mount -a finds it mounted', async (type, source) => {
    await fstab(type, source)
    const { stdout, stderr } = await within(`
mount -a -T "$1/fstab" && mount -a -T "$1/fstab"
findmnt -n -o SOURCE,FSTYPE "$drive"
echo kept >"$drive/a.txt"
umount "$drive" && mount -T "$1/fstab" "$drive" && cat "$drive/a.txt"`)
    expect({ stdout: stdout.trim().replaceAll(/ +/g, ' '), stderr }).toEqual({
      stdout: `${source} fuse.docmount\nkept`,
      stderr: '',
    })
    expect((await desk.testService.other.bytes('/a.txt')).toString()).toBe('kept\n')
  })

  test('that is wrong is told in one line, and fails', async () => {
    await fstab('docmount', 'nosuch:')
    const { stdout } = await within(`mount -T "$1/fstab" "$drive" 2>&1 || echo "code $?"`)
    expect(stdout).toMatch(/^docmount: the project "nosuch" cannot be read .*the key sees: acme\ncode 32\n$/)
  })
})
