// Documented lines typed by ordinary users on a bare Debian 13, which has npm 9.2; then a drive at every login by the package's unit,
// and what an upgrade and a removal of the package do to all that runs.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BareDebian, whyNoBareDebian } from '../support/bare-debian.ts'
import { cloneTo } from '../support/clone.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { scriptOf } from '../support/typed-story.ts'
import { storiesOnDebian } from './documented-stories.ts'

const limitMs = 3_000_000

const why = whyNoFuse() ?? whyNoBareDebian()

describe.runIf(why === undefined)('on a bare Debian 13', () => {
  let folder: TemporaryFolder
  let service: TestService
  let debian: BareDebian
  beforeAll(async () => {
    folder = await makeTemporaryFolder()
    service = await startTestService()
    debian = await BareDebian.boot(folder.path)
    for (const user of ['ann', 'bob']) {
      const home = join(folder.path, 'root/home', user)
      await cloneTo(join(home, 'docmount'))
      await run('chown', ['-R', user === 'ann' ? '1000:1000' : '1001:1001', home])
    }
  }, limitMs)
  afterAll(async () => {
    await debian?.end()
    await service?.close()
    await folder?.remove()
  }, limitMs)

  test.for(storiesOnDebian)('$title', { timeout: limitMs }, async (story) => {
    const given = `service=${service.baseUrl}; key=${service.apiKey}\n`
    await debian.login(story.user, given + scriptOf(story), { limitMs })
  })

  test(
    'a drive that was unmounted stays so, one that was killed comes back',
    async () => {
      const { stdout } = await debian.login(
        'ann',
        `
      state() { systemctl --user show -p ActiveState --value docmount@acme; }
      over() { for _ in $(seq 300); do case $(state) in inactive|failed) break ;; esac; sleep 0.1; done; echo "over: $(state)"; }
      systemctl --user enable --now docmount@acme
      docmount unmount acme 2>&1
      over
      systemctl --user start docmount@acme
      fusermount3 -u ~/acme
      over
      docmount service status
      systemctl --user start docmount@acme
      kill -9 "$(systemctl --user show -p MainPID --value docmount@acme)"
      for _ in $(seq 300); do [ "$(systemctl --user show -p NRestarts --value docmount@acme)/$(state)" = 1/active ] && break; sleep 0.1; done
      echo kept >~/acme/kept.txt
      docmount unmount acme`,
        { limitMs },
      )
      expect(stdout).toMatch(
        /^docmount: acme stays unmounted until the next login; .*\nover: inactive\nover: inactive\n/,
      )
      expect(stdout).toMatch(/^docmount@acme\.service: inactive \(not mounted until the next login; /m)
      expect(await service.other.bytes('/kept.txt')).toEqual(Buffer.from('kept\n'))
    },
    limitMs,
  )

  test(
    'an upgrade restarts the service and the drives, a removal ends them',
    async () => {
      const { stdout } = await debian.root(
        `
      ann() { systemctl --user --machine ann@ "$@"; }
      pids() { echo "$1: $(systemctl show -p MainPID --value docmount-serve) $(ann show -p MainPID --value docmount@acme) "; }
      other() { for _ in $(seq 300); do now=$(pids "$1"); case $now in *' 0 '*|*" $2 "*|*" $3 "*) sleep 0.2 ;; *) echo "$now"; return ;; esac; done; echo same; }
      mkdir -p /var/lib/systemd/linger /etc/docmount; touch /var/lib/systemd/linger/ann
      systemctl start user@1000
      echo DOCMOUNT_SERVE_LISTEN=127.0.0.1:0 >/etc/docmount/serve.env
      systemctl enable --now docmount-serve >&2
      ann start docmount@acme
      before=$(pids before)
      cd /tmp && dpkg-deb --raw-extract /home/ann/docmount/docmount_*.deb newer
      sed -i 's/^Version: .*/Version: 99/' newer/DEBIAN/control && dpkg-deb --build newer newer.deb >&2
      apt-get -qq install --yes ./newer.deb >&2
      set -- $before
      other after "$2" "$3"
      apt-get -qq remove --yes docmount 2>&1 | grep ^docmount:
      systemctl is-active docmount-serve || true
      ann is-active docmount@acme || true
      if pgrep -af '[m]ain.js' >&2; then exit 1; fi
      ls /var/lib/docmount/service.db`,
        { limitMs },
      )
      expect(stdout).toMatch(/^after: \d+ \d+ \n/)
      expect(stdout).toMatch(/docmount: services and drives end[^]*~\/\.local\/state\/docmount/)
      expect(stdout).toMatch(/\ninactive\ninactive\n\/var\/lib\/docmount\/service\.db\n$/)
    },
    limitMs,
  )
})
