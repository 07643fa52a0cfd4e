// Mounting as an ordinary user: fusermount3 mounts, and its descriptor is received by koffi.

import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  isMounted,
  mountMemory,
  within,
  type MemoryMount,
  type MemoryMountOptions,
} from '../support/memory-mount.ts'
import { makeOrdinaryUser, makePath, whyNoUserMount, type OrdinaryUser } from '../support/ordinary-user.ts'
import { whyNoPython } from '../support/python.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoUserMount()

/** Programs that the driver itself runs. */
const needed = ['fusermount3', 'sh', 'stat', 'setpriv']

describe.skipIf(why !== undefined)(`an ordinary user’s mount${why === undefined ? '' : ` (${why})`}`, () => {
  let user: OrdinaryUser

  beforeAll(async () => {
    user = await makeOrdinaryUser()
  })

  afterAll(async () => {
    await user.remove()
  })

  async function refusal(options: MemoryMountOptions): Promise<string> {
    const drive = await mountMemory({ user, ...options }).catch((error: Error) => error.message)
    if (typeof drive === 'string') return drive
    await drive.remove()
    return 'mounted'
  }

  describe('with koffi', () => {
    let programs: { path: string; remove(): Promise<void> }
    let drive: MemoryMount

    async function mount(options: MemoryMountOptions = {}): Promise<MemoryMount> {
      return mountMemory({ user, path: programs.path, ...options })
    }

    beforeAll(async () => {
      programs = await makePath(needed)
      drive = await mount({ source: 'docmount:a,b\\c' })
    })

    afterAll(async () => {
      await drive?.remove()
      await programs.remove()
    })

    test('reads and writes, in small and large pieces', async () => {
      await user.bash(
        `cd "$1"
        head -c 5000000 /dev/urandom > data; cp data copy; cmp data copy
        dd if=data of=small bs=333 status=none; cmp data small
        mkdir d; seq 1 300 | (cd d; xargs touch); ls -l d | wc -l; rm -r d; mv copy moved; cmp data moved; rm *`,
        drive.path,
      )
      expect((await drive.counts()).openHandles).toBe(0)
      expect(drive.stderr).toBe('')
    })

    test('belongs to the user, and shows its source', async () => {
      const { stdout } = await user.bash('touch "$1/a"; stat -c %u "$1/a"; rm "$1/a"', drive.path)
      expect(stdout.trim()).toBe(String(user.uid))
      const table = await readFile('/proc/self/mountinfo', 'utf8')
      expect(table).toContain(`${drive.path} rw,nosuid,nodev,relatime - fuse.docmount docmount:a,b\\134c `)
    })

    test.skipIf(whyNoPython !== undefined)(
      'has no lists of extended attributes, so that ls asks for none',
      async () => {
        const list = `import errno, os, sys
try: print(os.listxattr(sys.argv[1]))
except OSError as error: print(errno.errorcode[error.errno])`
        const { stdout } = await user.bash(`python3 -c '${list}' "$1"`, drive.path)
        expect(stdout.trim()).toBe('ENOTSUP')
      },
    )

    test('goes on while a notification waits', async () => {
      await drive.ask({ kind: 'put', path: '/file', text: 'first' })
      await drive.ask({ kind: 'hold', operation: 'read' })
      const cat = user.bash('cat "$1/file"', drive.path)
      await drive.holds(1)
      await drive.ask({ kind: 'put', path: '/file', text: 'again', notify: 'content' })
      await user.bash('touch "$1/other"', drive.path)
      await drive.ask({ kind: 'letGo', operation: 'read' })
      expect((await within(20_000, 'cat', cat)).stdout).toBe('again')
    })

    test('is unmounted by the driver, and refuses while it is in use', async () => {
      const other = await mount()
      try {
        await other.ask({ kind: 'put', path: '/file', text: 'x' })
        await other.ask({ kind: 'hold', operation: 'read' })
        const cat = user.bash('cat "$1/file"', other.path)
        await other.holds(1)
        await expect(other.ask({ kind: 'unmount', isLazy: false })).rejects.toThrow(
          expect.objectContaining({ code: 'EBUSY' }),
        )
        await other.ask({ kind: 'letGo', operation: 'read' })
        await cat
        await other.unmount()
        expect(await within(10_000, 'the end of the mount', other.closed)).toBe('unmounted')
      } finally {
        await other.remove()
      }
    })

    test('is detached when its process is killed, and its callers are freed', async () => {
      const other = await mount()
      try {
        await other.ask({ kind: 'hold', operation: 'lookup', ignoresSignal: true })
        const look = user.bash('stat "$1/a"', other.path)
        const failed = expect(look).rejects.toThrow('exit code 1')
        await other.holds(1)
        other.process.kill('SIGKILL')
        await within(10_000, 'stat', failed)
        await waitUntil('unmounted', async () => !(await isMounted(other.path)))
      } finally {
        await other.remove()
      }
    })
  })

  test('for others is refused with the line for /etc/fuse.conf, where that is missing', async () => {
    const configuration = await readFile('/etc/fuse.conf', 'utf8').catch(() => '')
    if (/^user_allow_other/m.test(configuration)) return
    expect(await refusal({ allowOther: true })).toMatch(
      /^fusermount3 refuses: .*: ask the administrator to put a line user_allow_other into \/etc\/fuse.conf/,
    )
  })

  test.skipIf(process.getuid?.() !== 0)(
    'by root lets others in where it is for others, and only there',
    async () => {
      for (const allowOther of [true, false]) {
        const drive = await mountMemory({ allowOther })
        try {
          await drive.ask({ kind: 'put', path: '/file', text: 'for all' })
          const read = user.bash('cat "$1/file"', drive.path)
          if (allowOther) expect((await read).stdout).toBe('for all')
          else await expect(read).rejects.toThrow('Permission denied')
        } finally {
          await drive.remove()
        }
      }
    },
  )

  test.skipIf(process.getuid?.() !== 0)('on somebody else’s folder is refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'docmount-owned-'))
    try {
      expect(await refusal({ mountpoint: folder })).toBe(
        `the mountpoint ${folder} may not be read by this user: choose a folder of your own`,
      )
      await chmod(folder, 0o755)
      expect(await refusal({ mountpoint: folder })).toMatch(
        /^fusermount3 refuses: .* must be a folder of your own$/,
      )
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('without anything to receive the descriptor is refused with what to install', async () => {
    const programs = await makePath(needed)
    try {
      expect(await refusal({ packages: 'none', path: programs.path })).toBe(
        'nothing can receive the descriptor from fusermount3: run npm install koffi',
      )
    } finally {
      await programs.remove()
    }
  })

  test('without fusermount3 is refused with the package’s name', async () => {
    const programs = await makePath(needed.filter((name) => name !== 'fusermount3'))
    try {
      expect(await refusal({ path: programs.path })).toBe('fusermount3 is missing: install the package fuse3')
    } finally {
      await programs.remove()
    }
  })
})
