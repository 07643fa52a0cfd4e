// The Debian package as `scripts/package` makes it, installed by apt into a copy of this machine that leaves the machine
// alone (an overlay in a mount namespace): it mounts from there, ends what runs of it, and goes without a trace. Under systemd:
// bare-debian.test.ts.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cloneTo } from '../support/clone.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { bash, isInstalled, run, type Ran } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { ownMounts } from '../support/own-mounts.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

/** Ends what hangs: packing and unpacking take minutes on a busy machine. */
const limitMs = 900_000

/** `$1` folder of the overlay, `$2` the line to run in it; what the test makes is at its own place there, too. */
const inCopy = `${ownMounts}
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
for name in proc dev sys; do mount --rbind "/$name" "$name"; done
mount -t tmpfs none run; mkdir -p "./$1"; mount --bind "$1" "./$1"
exec timeout ${limitMs / 1000 - 10} chroot . /usr/bin/env -i HOME=/root XDG_RUNTIME_DIR=/run PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
  bash -euo pipefail -c "$2" bash "$1"`

describe.runIf(whyNoFuse() === undefined)('the Debian package', { timeout: limitMs + 10_000 }, () => {
  let folder: TemporaryFolder
  let service: TestService
  let whyNot: string | undefined
  beforeAll(async () => {
    folder = await makeTemporaryFolder()
    service = await startTestService()
    for (const name of ['upper', 'work', 'root', 'drive']) await mkdir(join(folder.path, name))
    if (!['dpkg-deb', 'apt-get', 'unshare'].every(isInstalled)) whyNot = 'this is no Debian'
    else if ((await inMachine('command -v apt-get', true)).code !== 0)
      whyNot = 'no overlay can be mounted here'
    else {
      const clone = join(folder.path, 'clone')
      await cloneTo(clone)
      await run(join(clone, 'scripts/package'), [folder.path], { limitMs })
    }
  }, limitMs)
  afterAll(async () => {
    await service?.close()
    await folder?.remove()
  })

  /** In the copy as the last line left it; `$1` is the test's folder. */
  function inMachine(line: string, mayFail = false): Promise<Ran> {
    const args = ['unshare', '--mount', 'bash', '-euo', 'pipefail', '-c', inCopy, 'bash', folder.path, line]
    return bash('"$@"', args, { limitMs, mayFail })
  }

  test('is installed by apt, with command, mount helper, man pages, completions and units', async (context) => {
    if (whyNot !== undefined) return context.skip(whyNot)
    const { stdout } = await inMachine(`
      apt-get -qq install --yes --no-install-recommends "$1"/docmount_*.deb >&2
      readlink -f "$(command -v docmount)" "$(command -v mount.docmount)"
      docmount --version
      dpkg --verify docmount
      dpkg -L docmount
      zgrep -c 'docmount ui' /usr/share/man/man1/docmount.1.gz
      grep -l ' ui ' /usr/share/bash-completion/completions/docmount
      . /usr/share/bash-completion/completions/docmount && complete -p docmount
      if command -v systemd-analyze >/dev/null; then systemd-analyze --user verify docmount@acme.service 2>&1; fi`)
    const lines = stdout.split('\n')
    expect(lines.slice(0, 3)).toEqual([
      '/usr/lib/docmount/dist/cli/main.js',
      '/usr/lib/docmount/dist/cli/main.js',
      expect.stringMatching(/^\d+\.\d+\.\d+$/),
    ])
    expect(lines).toEqual(
      expect.arrayContaining([
        '/usr/share/man/man1/docmount.1.gz',
        '/usr/lib/docmount/dist/ui/assets/page.js',
        '/usr/share/doc/docmount/copyright',
        '/usr/share/doc/docmount/changelog.gz',
        '/usr/lib/systemd/user/docmount@.service',
        '/usr/lib/systemd/system/docmount-serve.service',
        '/usr/share/nautilus-python/extensions/docmount.py',
        '/usr/share/thunarx-python/extensions/docmount.py',
        '/usr/share/kio/servicemenus/docmount.desktop',
        '/usr/share/icons/hicolor/scalable/emblems/emblem-docmount-pinned.svg',
        '/usr/share/zsh/vendor-completions/_docmount',
        '/usr/share/fish/vendor_completions.d/docmount.fish',
      ]),
    )
    expect(stdout).toMatch(/complete .*docmount/)
  })

  test('mounts by its command and by mount(8), and serves', async (context) => {
    if (whyNot !== undefined) return context.skip(whyNot)
    // mount(8) hands no HOME on: what it mounts is root's.
    const config = JSON.stringify({ base_url: service.baseUrl, api_key: service.apiKey })
    await writeFile(join(folder.path, 'config.json'), config)
    await inMachine(`
      install -D -m 0600 "$1/config.json" /root/.config/docmount/config.json
      docmount mount acme "$1/drive"
      cp /usr/share/dpkg/cputable "$1/drive/one.txt"
      docmount unmount "$1/drive"
      mount -t docmount acme: "$1/drive" -o cache_ttl=5s
      cmp "$1/drive/one.txt" /usr/share/dpkg/cputable
      cp /usr/share/dpkg/ostable "$1/drive/two.txt"
      docmount unmount "$1/drive"
      docmount serve --data "$1/data" --project other --listen 127.0.0.1:0 >"$1/said" 2>&1 & server=$!
      for try in $(seq 100); do grep -q /api "$1/said" && break; sleep 0.1; done
      kill "$server"; wait "$server"
      grep -q /api "$1/said"`)
    for (const name of ['one', 'two']) await service.other.bytes(`/${name}.txt`)
  })

  test('says after an upgrade what is still the version of before, and ends what runs when it is removed', async (context) => {
    if (whyNot !== undefined) return context.skip(whyNot)
    const { stdout } = await inMachine(`
      dpkg-deb --raw-extract "$1"/docmount_*_*.deb "$1/newer"
      sed -i 's/^Version: .*/Version: 99/' "$1/newer/DEBIAN/control"
      dpkg-deb -Znone --build "$1/newer" "$1/newer.deb" >&2
      docmount serve --data "$1/data" --listen 127.0.0.1:0 >"$1/said" 2>&1 & server=$!
      docmount mount acme "$1/drive" >&2
      drive=$(sed -nE 's/.*"pid":([0-9]+).*/\\1/p' /run/docmount/*.json)
      echo upgraded
      apt-get -qq install --yes "$1/newer.deb" 2>&1 | grep '^docmount:'
      ls "/proc/$drive/exe" "/proc/$server/exe"
      timeout 200 cp /usr/share/dpkg/tupletable "$1/drive/three.txt"
      echo removed
      apt-get -qq remove --yes docmount 2>&1 | grep '^docmount:'
      for process in "$drive" "$server"; do ! ls "/proc/$process/exe" 2>/dev/null; done
      ls "$1/drive"`)
    const [upgraded = '', removed = ''] = stdout.split('upgraded\n')[1]?.split('removed\n') ?? []
    expect(upgraded).toMatch(/^docmount: process \d+ \(mount acme .*\) is still the version of before/m)
    expect(upgraded).toMatch(/^docmount: process \d+ \(serve .*\) is still the version of before/m)
    expect(upgraded.match(/^\/proc/gm)).toHaveLength(2)
    expect(removed).toMatch(/^docmount: services and drives end/)
    expect(removed).toContain('~/.local/state/docmount')
    expect(removed).not.toContain('/proc/')
    expect(removed).toMatch(/\/etc\/docmount\.\r?\n$/)
    await service.other.bytes('/three.txt')
  })

  test('goes without a trace', async (context) => {
    if (whyNot !== undefined) return context.skip(whyNot)
    const { stdout } = await inMachine(`
      apt-get -qq purge --yes docmount >&2
      # /usr/local is this machine's own: \`scripts/setup\` may have put its link there.
      find /usr -path '*docmount*' -not -path '/usr/local/*' -not -path "$1/*"`)
    expect(stdout).toBe('')
  })
})
