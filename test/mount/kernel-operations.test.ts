// Every request of the protocol, brought about by the system calls that send it.

import { createHash, randomBytes } from 'node:crypto'
import {
  appendFile,
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { mountMemory, type MemoryMount } from '../support/memory-mount.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { python, whyNoPython } from '../support/python.ts'
import { bash } from '../support/run.ts'

const why = whyNoFuse()

describe.skipIf(why !== undefined)(`the kernel driver${why === undefined ? '' : ` (${why})`}`, () => {
  let drive: MemoryMount
  /** A fresh folder for each test. */
  let at: (name: string) => string
  let folders = 0

  beforeAll(async () => {
    drive = await mountMemory()
  })

  beforeEach(async () => {
    const folder = `test-${++folders}`
    await mkdir(drive.at(folder))
    await drive.counts()
    at = (name) => drive.at(`${folder}/${name}`)
  })

  afterAll(async () => {
    await drive.remove()
    // The driver complained of nothing.
    expect(drive.stderr).toBe('')
  })

  const refusal = (code: string): unknown => expect.objectContaining({ code })

  describe('names', () => {
    test('LOOKUP of what is not there is ENOENT', async () => {
      await expect(stat(at('nothing'))).rejects.toThrow(refusal('ENOENT'))
    })

    test('CREATE makes the file and opens it', async () => {
      const file = await open(at('a'), 'wx+', 0o640)
      await file.write('hello')
      expect((await file.stat()).mode & 0o7777).toBe(0o640)
      await file.close()
      expect(await readFile(at('a'), 'utf8')).toBe('hello')
      expect((await drive.counts()).calls.create).toBe(1)
    })

    test('CREATE with O_EXCL of a name that is taken is EEXIST', async () => {
      await writeFile(at('a'), '')
      await expect(open(at('a'), 'wx')).rejects.toThrow(refusal('EEXIST'))
    })

    test('CREATE with O_EXCL decides behind the kernel too: a name that appeared meanwhile is EEXIST', async () => {
      await expect(stat(drive.at('behind'))).rejects.toThrow(refusal('ENOENT'))
      await drive.ask({ kind: 'put', path: '/behind', text: 'x' })
      await expect(open(drive.at('behind'), 'wx')).rejects.toThrow(refusal('EEXIST'))
    })

    test('MKDIR, RMDIR and UNLINK make and remove', async () => {
      await mkdir(at('d'), 0o750)
      expect((await stat(at('d'))).mode & 0o7777).toBe(0o750)
      await writeFile(at('d/f'), '')
      await expect(rmdir(at('d'))).rejects.toThrow(refusal('ENOTEMPTY'))
      await unlink(at('d/f'))
      await rmdir(at('d'))
      expect(await readdir(at('.'))).toEqual([])
    })

    test('RENAME replaces a file', async () => {
      await writeFile(at('a'), 'new')
      await writeFile(at('b'), 'old')
      await rename(at('a'), at('b'))
      expect(await readFile(at('b'), 'utf8')).toBe('new')
      expect(await readdir(at('.'))).toEqual(['b'])
    })

    test.skipIf(whyNoPython !== undefined)(
      'RENAME2 swaps, spares what is there, and refuses the rest',
      async () => {
        await writeFile(at('a'), 'A')
        await writeFile(at('b'), 'B')
        const said = await python(
          `
def rename(a, b, flags): print(call('renameat2', -100, (at+'/'+a).encode(), -100, (at+'/'+b).encode(), flags))
rename('a', 'b', 2)
rename('a', 'b', 1)
rename('a', 'b', 4)
rename('a', 'c', 1)
`,
          at('.'),
        )
        expect(said).toEqual(['0', 'EEXIST', 'EINVAL', '0'])
        expect(await readFile(at('c'), 'utf8')).toBe('B')
        expect(await readFile(at('b'), 'utf8')).toBe('A')
      },
    )

    test('LINK and SYMLINK are EPERM, READLINK of a file is EINVAL', async () => {
      await writeFile(at('a'), '')
      await expect(link(at('a'), at('b'))).rejects.toThrow(refusal('EPERM'))
      await expect(symlink('a', at('b'))).rejects.toThrow(refusal('EPERM'))
      await expect(readlink(at('a'))).rejects.toThrow(refusal('EINVAL'))
    })

    test.skipIf(whyNoPython !== undefined)('MKNOD makes regular files and nothing else', async () => {
      const said = await python(
        `
import stat
print(attempt(os.mknod, at+'/f', 0o600 | stat.S_IFREG))
print(attempt(os.mknod, at+'/f', 0o600 | stat.S_IFREG))
print(attempt(os.mknod, at+'/p', 0o600 | stat.S_IFIFO))
`,
        at('.'),
      )
      expect(said).toEqual(['None', 'EEXIST', 'EPERM'])
      expect((await stat(at('f'))).mode & 0o7777).toBe(0o600)
      expect((await drive.counts()).openHandles).toBe(0)
    })

    test.each(['ä'.repeat(127) + 'x', 'x'.repeat(255), '😀e\u0301\u{FFFD}', 'a b\nc"\\'])(
      'of up to 255 bytes come back as they were written: %s',
      async (name) => {
        await writeFile(at(name), name)
        expect(await readdir(at('.'))).toEqual([name])
        expect(await readFile(at(name), 'utf8')).toBe(name)
      },
    )

    test('of 256 bytes are ENAMETOOLONG', async () => {
      const name = 'ä'.repeat(128)
      await expect(stat(at(name))).rejects.toThrow(refusal('ENAMETOOLONG'))
      await expect(writeFile(at(name), '')).rejects.toThrow(refusal('ENAMETOOLONG'))
      await expect(mkdir(at(name))).rejects.toThrow(refusal('ENAMETOOLONG'))
    })

    test('that are not UTF-8 are EILSEQ for making, ENOENT for finding', async () => {
      const invalid = Buffer.concat([Buffer.from(at('x')), Buffer.of(0xff)])
      await writeFile(at('a'), '')
      await expect(mkdir(invalid)).rejects.toThrow(refusal('EILSEQ'))
      await expect(rename(at('a'), invalid)).rejects.toThrow(refusal('EILSEQ'))
      await expect(stat(invalid)).rejects.toThrow(refusal('ENOENT'))
      await expect(unlink(invalid)).rejects.toThrow(refusal('ENOENT'))
    })
  })

  describe('attributes', () => {
    test('SETATTR changes mode, owner and size', async () => {
      await writeFile(at('a'), '0123456789')
      await chmod(at('a'), 0o4711)
      await truncate(at('a'), 4)
      const root = process.getuid?.() === 0
      if (root) await chown(at('a'), 12, 34)
      const found = await stat(at('a'))
      expect(found.size).toBe(4)
      expect([found.uid, found.gid]).toEqual(root ? [12, 34] : [process.getuid?.(), process.getgid?.()])
      expect(await readFile(at('a'), 'utf8')).toBe('0123')
    })

    test('times are exact, also before 1970, and each alone', async () => {
      await writeFile(at('a'), '')
      await bash('touch -d "1965-04-03 02:01:00.123456789 UTC" "$1"; touch -a -d "2020-01-01 UTC" "$1"', [
        at('a'),
      ])
      const found = await stat(at('a'), { bigint: true })
      expect(found.mtimeNs).toBe(BigInt(Date.UTC(1965, 3, 3, 2, 1)) * 1_000_000n + 123_456_789n)
      expect(found.atimeNs).toBe(BigInt(Date.UTC(2020, 0, 1)) * 1_000_000n)
      await utimes(at('a'), 1, 2)
      expect((await stat(at('a'))).mtimeMs).toBe(2000)
    })

    test('SETATTR with "now" is now', async () => {
      await writeFile(at('a'), '')
      await utimes(at('a'), 1, 1)
      const before = Date.now()
      await bash('touch "$1"', [at('a')])
      expect((await stat(at('a'))).mtimeMs).toBeGreaterThanOrEqual(before - 1)
    })

    test('a new file belongs to who made it', async () => {
      await writeFile(at('a'), '')
      expect((await stat(at('a'))).uid).toBe(process.getuid?.())
    })

    test('STATFS tells room and the longest name', async () => {
      const found = await statfs(drive.path)
      expect(found.bsize).toBe(4096)
      expect(found.blocks).toBe(2 ** 28)
      expect(found.bfree).toBe(2 ** 28 - 1)
    })

    test.skipIf(whyNoPython !== undefined)(
      'xattrs are ENOTSUP and their list is empty, ioctl is ENOTTY, access is the mode’s',
      async () => {
        await writeFile(at('a'), '', { mode: 0o600 })
        const said = await python(
          `
print(attempt(os.getxattr, at, 'user.x'))
print(attempt(os.setxattr, at, 'user.x', b'1'))
print(attempt(os.listxattr, at))
fd = os.open(at, os.O_RDWR)
print(attempt(fcntl.ioctl, fd, 0x5401))
print(os.access(at, os.R_OK), os.access(at, os.X_OK))
import select
p = select.poll(); p.register(fd, select.POLLIN); print(len(p.poll(0)))
fcntl.lockf(fd, fcntl.LOCK_EX); fcntl.flock(fd, fcntl.LOCK_EX); print('locked')
`,
          at('a'),
        )
        expect(said).toEqual([
          'ENOTSUP',
          'ENOTSUP',
          isRoot ? '[]' : 'ENOTSUP',
          'ENOTTY',
          'True False',
          '1',
          'locked',
        ])
      },
    )
  })

  describe('content', () => {
    test.each([0, 1, 4095, 4096, 4097, 131_072, 1_048_577, 5_000_003])(
      'READ and WRITE keep %d bytes',
      async (size) => {
        const data = randomBytes(size)
        await writeFile(at('a'), data)
        const read = await readFile(at('a'))
        expect(read.equals(data)).toBe(true)
        expect((await stat(at('a'))).size).toBe(size)
      },
    )

    test('a copy by cp is the same, through READ and WRITE of any block size', async () => {
      const data = randomBytes(3_000_000)
      await writeFile(at('a'), data)
      await bash(
        'cp "$1" "$2"; dd if="$1" of="$3" bs=777 status=none; dd if="$1" bs=1M iflag=direct of="$4" status=none',
        [at('a'), at('b'), at('c'), at('d')],
      )
      for (const name of ['b', 'c', 'd']) {
        expect(
          createHash('sha1')
            .update(await readFile(at(name)))
            .digest('hex'),
        ).toBe(createHash('sha1').update(data).digest('hex'))
      }
    })

    test('COPY_FILE_RANGE of a whole file reads and writes nothing', async () => {
      await writeFile(at('a'), randomBytes(200_000))
      await drive.counts()
      await bash('cp --reflink=auto "$1" "$2"', [at('a'), at('b')])
      const { calls } = await drive.counts()
      expect([calls.copyFileRange ?? 0, calls.write ?? 0]).toEqual([1, 0])
      expect((await readFile(at('b'))).equals(await readFile(at('a')))).toBe(true)
    })

    test.skipIf(whyNoPython !== undefined)(
      'COPY_FILE_RANGE of a part is refused once and copied by the kernel, every time anew',
      async () => {
        await writeFile(at('a'), '0123456789')
        await writeFile(at('b'), '')
        await drive.counts()
        const said = await python(
          `
a = os.open(at+'/a', os.O_RDONLY); b = os.open(at+'/b', os.O_RDWR)
print(os.copy_file_range(a, b, 3, 2, 0), os.copy_file_range(a, b, 3, 5, 3))
`,
          at('.'),
        )
        expect(said).toEqual(['3 3'])
        expect(await readFile(at('b'), 'utf8')).toBe('234567')
        expect((await drive.counts()).calls.copyFileRange).toBe(2)
      },
    )

    test('O_APPEND writes to the end as the filesystem knows it', async () => {
      await drive.ask({ kind: 'put', path: '/log', text: 'one\n' })
      expect((await stat(drive.at('log'))).size).toBe(4)
      // Longer than the kernel believes: its cached size would overwrite the second line.
      await drive.ask({ kind: 'put', path: '/log', text: 'one\ntwo\n' })
      await appendFile(drive.at('log'), 'three\n')
      await drive.ask({ kind: 'notifyName', parent: 1, name: 'log' })
      await expect.poll(() => readFile(drive.at('log'), 'utf8')).toBe('one\ntwo\nthree\n')
    })

    test('OPEN with O_TRUNC empties at once', async () => {
      await writeFile(at('a'), 'long content')
      const file = await open(at('a'), 'w')
      expect((await file.stat()).size).toBe(0)
      await file.close()
    })

    test('offsets beyond 4 GiB are exact, and sizes beyond 2^53 are EFBIG', async () => {
      const file = await open(at('a'), 'w+')
      await file.write('end', 5 * 2 ** 30)
      await file.write('far', 2 ** 40 + 1)
      expect((await file.stat()).size).toBe(2 ** 40 + 4)
      const buffer = Buffer.alloc(3)
      await file.read(buffer, 0, 3, 5 * 2 ** 30)
      expect(buffer.toString()).toBe('end')
      await file.close()
      await expect(bash('truncate -s 9007199254740993 "$1"', [at('a')])).rejects.toThrow('File too large')
    })

    test.skipIf(whyNoPython !== undefined)(
      'FALLOCATE grows or keeps the size; punching holes is ENOTSUP',
      async () => {
        await writeFile(at('a'), 'x')
        const said = await python(
          `
fd = os.open(at, os.O_RDWR)
big = lambda n: ctypes.c_long(n)
print(call('fallocate', fd, 1, big(0), big(5000)), os.fstat(fd).st_size)
print(call('fallocate', fd, 0, big(0), big(5000)), os.fstat(fd).st_size)
print(call('fallocate', fd, 3, big(0), big(100)))
print(call('fallocate', fd, 0, big(0), big(6000)), os.fstat(fd).st_size)
`,
          at('a'),
        )
        expect(said).toEqual(['0 1', '0 5000', 'ENOTSUP', '0 6000'])
      },
    )

    test.skipIf(whyNoPython !== undefined)('LSEEK finds no hole before the end', async () => {
      await writeFile(at('a'), '12345')
      const said = await python(
        `
fd = os.open(at, os.O_RDONLY)
print(os.lseek(fd, 1, os.SEEK_HOLE), os.lseek(fd, 1, os.SEEK_DATA), attempt(os.lseek, fd, 9, os.SEEK_DATA))
`,
        at('a'),
      )
      expect(said).toEqual(['5 1 ENXIO'])
    })

    test.skipIf(whyNoPython !== undefined)(
      'a shared mapping is written back, O_TMPFILE is ENOTSUP',
      async () => {
        await writeFile(at('a'), 'x'.repeat(10_000))
        const said = await python(
          `
import mmap
fd = os.open(at, os.O_RDWR)
m = mmap.mmap(fd, 10000); m[5000:5003] = b'abc'; m.flush(); m.close(); os.close(fd)
print(attempt(os.open, os.path.dirname(at), os.O_TMPFILE | os.O_RDWR))
`,
          at('a'),
        )
        expect((await readFile(at('a'), 'utf8')).slice(4999, 5004)).toBe('xabcx')
        expect(said).toEqual(['ENOTSUP'])
      },
    )

    test('an unlinked file lives until its last close', async () => {
      const file = await open(at('a'), 'w+')
      await file.write('still here')
      await unlink(at('a'))
      expect((await file.stat()).nlink).toBe(0)
      expect((await file.read(Buffer.alloc(5), 0, 5, 0)).buffer.toString()).toBe('still')
      await file.close()
      await expect.poll(async () => (await drive.counts()).openHandles).toBe(0)
    })

    test('FLUSH comes with each close, FSYNC with each sync, RELEASE with the last', async () => {
      const file = await open(at('a'), 'w')
      await file.sync()
      await file.datasync()
      await file.close()
      const { calls } = await drive.counts()
      expect([calls.fsync, calls.flush]).toEqual([2, 1])
      await expect.poll(async () => (await drive.counts()).openHandles).toBe(0)
    })
  })

  describe('listings', () => {
    test.skipIf(process.getuid?.() !== 0)(
      'a file read from start to end is asked for in large pieces where root may say so',
      async () => {
        await writeFile(at('film'), randomBytes(16 * 2 ** 20))
        await bash('echo 3 > /proc/sys/vm/drop_caches', [])
        await drive.counts()
        await bash('dd if="$1" of=/dev/null bs=64K 2> /dev/null', [at('film')])
        // 128 by the kernel's own measure; the first steps are small.
        expect((await drive.counts()).calls.read).toBeLessThanOrEqual(40)
      },
    )

    test('READDIRPLUS brings attributes: ls -l of many files asks for none of them', async () => {
      await mkdir(at('many'))
      await bash('cd "$1"; seq -f "file-%05g" 1 2000 | xargs touch', [at('many')])
      await bash('echo 2 > /proc/sys/vm/drop_caches', [], { mayFail: true })
      await drive.counts()
      const { stdout } = await bash('ls -l "$1" | wc -l', [at('many')])
      const { calls } = await drive.counts()
      expect(stdout.trim()).toBe('2001')
      expect(calls.readdir ?? 0).toBeGreaterThan(1)
      expect((calls.getattr ?? 0) + (calls.lookup ?? 0)).toBeLessThan(20)
    })

    test('hold every name once, whatever the size of the buffer', async () => {
      const names = Array.from({ length: 500 }, (_, index) => `${'n'.repeat(index % 250)}-${index}`)
      await Promise.all(names.map((name) => writeFile(at(name), '')))
      expect((await readdir(at('.'))).sort()).toEqual(names.sort())
      const { stdout } = await bash('ls -f "$1" | grep -cxE "\\.\\.?"; ls -f "$1" | sort | uniq -d', [
        at('.'),
      ])
      expect(stdout).toBe('2\n')
    })

    test.skipIf(whyNoPython !== undefined)(
      'rewinding reads afresh, seeking goes on where it was',
      async () => {
        await Promise.all(['a', 'b', 'c', 'd'].map((name) => writeFile(at(name), '')))
        const program = `
opendir, readdir = libc.opendir, libc.readdir
opendir.restype = readdir.restype = ctypes.c_void_p
libc.telldir.restype = ctypes.c_long
handle = ctypes.c_void_p(opendir(at.encode()))
def name():
    entry = readdir(handle)
    return ctypes.string_at(entry + 19).decode() if entry else None
seen = [name() for _ in range(3)]
place = libc.telldir(handle)
following = name()
while name(): pass
libc.seekdir(handle, ctypes.c_long(place))
print(name() == following)
open(at + '/e', 'w').close()
libc.rewinddir(handle)
print(len(list(iter(name, None))))
`
        expect(await python(program, at('.'))).toEqual(['True', '7'])
      },
    )

    test('a folder that changes while it is removed is removed whole', async () => {
      await bash('cd "$1"; mkdir -p t/{1..20}; for d in t/*; do touch $d/{1..50}; done; rm -r t', [at('.')])
      expect(await readdir(at('.'))).toEqual([])
    })

    test('FSYNCDIR asks the filesystem', async () => {
      const folder = await open(at('.'), 'r')
      await drive.counts()
      await folder.sync()
      expect((await drive.counts()).calls.fsyncdir).toBe(1)
      await folder.close()
    })
  })

  test('nothing is open, and the kernel forgot all it looked up, once everything is removed', async () => {
    for (const name of await readdir(drive.path)) await rm(drive.at(name), { recursive: true })
    await lstat(drive.path)
    await expect
      .poll(async () => {
        const { rememberedNodes, openHandles } = await drive.counts()
        return { rememberedNodes, openHandles }
      })
      .toEqual({ rememberedNodes: 0, openHandles: 0 })
  })
})
