// Files and folders through the fuse-native driver, and what is done about each defect of the binding.

import { createHash } from 'node:crypto'
import {
  appendFile,
  chmod,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
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
import { patternedBytes } from '../support/bytes.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { mountMemory, type MemoryMount } from '../support/memory-mount.ts'
import { python, whyNoPython } from '../support/python.ts'
import { bash } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()

describe.skipIf(why !== undefined)(`the fuse-native driver${why === undefined ? '' : ` (${why})`}`, () => {
  let drive: MemoryMount
  /** A fresh folder for each test. */
  let at: (name: string) => string
  let folders = 0

  beforeAll(async () => {
    drive = await mountMemory({ driver: 'fuse-native' })
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

  test('a folder lists its children with their kinds, and no getattr is needed for that', async () => {
    await mkdir(at('folder'))
    for (let index = 0; index < 300; index++) await writeFile(at(`file ${index}.txt`), '')
    await drive.counts()
    const children = await readdir(at('.'), { withFileTypes: true })
    expect(children).toHaveLength(301)
    expect(children.filter((child) => child.isDirectory()).map((child) => child.name)).toEqual(['folder'])
    expect(children.filter((child) => child.isFile())).toHaveLength(300)
    const { calls } = await drive.counts()
    expect(calls.getattr ?? 0).toBeLessThan(5)
  })

  test('stat answers size, kind, mode, owner, blocks, and the same inode number each time', async () => {
    await writeFile(at('a'), 'x'.repeat(1025), { mode: 0o640 })
    const first = await stat(at('a'))
    expect(first.isFile()).toBe(true)
    expect(first.mode & 0o7777).toBe(0o640)
    expect(first).toMatchObject({
      size: 1025,
      nlink: 1,
      uid: process.getuid?.(),
      blocks: 3,
      blksize: 131_072,
    })
    const listed = (await bash('cd "$1"; ls -i a', [at('.')])).stdout.trim().split(' ')[0]
    expect(Number(listed)).toBe(first.ino)
    await chmod(at('a'), 0o4755)
    expect((await stat(at('a'))).mode & 0o7777).toBe(0o4755)
    await expect(stat(at('absent'))).rejects.toEqual(refusal('ENOENT'))
  })

  test.each([4096, 1 << 20])('pieces of %i bytes are written and read back', async (piece) => {
    const data = patternedBytes(8 << 20, 'native')
    const file = await open(at('big'), 'w+')
    for (let offset = 0; offset < data.length; offset += piece) {
      await file.write(data, offset, piece, offset)
    }
    const read = Buffer.alloc(piece)
    const hash = createHash('sha256')
    for (let offset = 0; offset < data.length; offset += piece) {
      expect((await file.read(read, 0, piece, offset)).bytesRead).toBe(piece)
      hash.update(read)
    }
    await file.close()
    expect(hash.digest('hex')).toBe(createHash('sha256').update(data).digest('hex'))
    expect(data.equals(await readFile(at('big')))).toBe(true)
  })

  test('a write of 1 MiB arrives in pieces of 128 KiB', async () => {
    await writeFile(at('a'), '')
    await drive.counts()
    const file = await open(at('a'), 'r+')
    // Filled, since the kernel makes smaller pieces of memory that was never touched.
    await file.write(Buffer.alloc(1 << 20, 'x'))
    await file.close()
    expect((await drive.counts()).calls.write).toBe(8)
  })

  test('offsets beyond 4 GiB are exact', async () => {
    const offset = 5 * 2 ** 30 + 123
    const file = await open(at('sparse'), 'w+')
    await file.write('far away', offset)
    expect((await file.stat()).size).toBe(offset + 8)
    expect((await file.read(Buffer.alloc(8), 0, 8, offset)).buffer.toString()).toBe('far away')
    expect((await file.read(Buffer.alloc(4), 0, 4, 4 * 2 ** 30)).buffer).toEqual(Buffer.alloc(4))
    await file.close()
    await truncate(at('sparse'), offset + 4)
    expect((await stat(at('sparse'))).size).toBe(offset + 4)
  })

  test('names of 255 bytes and emoji work, composed and decomposed letters differ', async () => {
    const names = [
      'n'.repeat(255),
      '\u{1F600}'.repeat(63),
      'caf\u00e9',
      'cafe\u0301',
      'a b\tc\'"$(touch x)`\\',
    ]
    for (const name of names) await writeFile(at(name), name)
    expect((await readdir(at('.'))).sort()).toEqual([...names].sort())
    for (const name of names) expect(await readFile(at(name), 'utf8')).toBe(name)
  })

  test('a name of 256 bytes is refused with ENAMETOOLONG, whatever its letters', async () => {
    await expect(writeFile(at('n'.repeat(256)), '')).rejects.toEqual(refusal('ENAMETOOLONG'))
    await expect(mkdir(at('\u{1F600}'.repeat(64)))).rejects.toEqual(refusal('ENAMETOOLONG'))
    expect(await readdir(at('.'))).toEqual([])
  })

  test.skipIf(whyNoPython !== undefined)(
    'names that are not UTF-8 are refused with EILSEQ, so that two never become one',
    async () => {
      const said = await python(
        `
for name in (b"bad\\xff", b"bad\\xfe"):
    print(attempt(os.open, os.fsencode(at) + b"/" + name, os.O_CREAT | os.O_WRONLY))
print(attempt(os.mkdir, os.fsencode(at) + b"/\\xff"))
`,
        at('.'),
      )
      expect(said).toEqual(['EILSEQ', 'EILSEQ', 'EILSEQ'])
      expect(await readdir(at('.'))).toEqual([])
    },
  )

  test('truncate makes files shorter and longer, also when they are opened for writing', async () => {
    await writeFile(at('a'), 'hello world')
    await truncate(at('a'), 5)
    expect(await readFile(at('a'), 'utf8')).toBe('hello')
    await truncate(at('a'), 8)
    expect(await readFile(at('a'))).toEqual(Buffer.from('hello\0\0\0'))
    const file = await open(at('a'), 'r+')
    await file.truncate(2)
    await file.close()
    expect(await readFile(at('a'), 'utf8')).toBe('he')
  })

  test('opening with O_TRUNC empties the file in the open itself', async () => {
    await writeFile(at('a'), 'a long old content')
    await drive.counts()
    await writeFile(at('a'), 'short')
    expect((await drive.counts()).calls.setattr ?? 0).toBe(0)
    expect(await readFile(at('a'), 'utf8')).toBe('short')
  })

  test('appends go to the end of the file', async () => {
    await writeFile(at('log'), 'one\n')
    await appendFile(at('log'), 'two\n')
    await bash('cd "$1"; echo three >> log; echo new >> fresh; echo er >> fresh', [at('.')])
    expect(await readFile(at('log'), 'utf8')).toBe('one\ntwo\nthree\n')
    expect(await readFile(at('fresh'), 'utf8')).toBe('new\ner\n')
  })

  test('rename moves files and folders, also over an existing file', async () => {
    await mkdir(at('from/deep'), { recursive: true })
    await writeFile(at('from/deep/a'), 'moved')
    await rename(at('from'), at('to'))
    expect(await readFile(at('to/deep/a'), 'utf8')).toBe('moved')
    await expect(stat(at('from/deep/a'))).rejects.toEqual(refusal('ENOENT'))
    await writeFile(at('b'), 'replaced')
    await rename(at('to/deep/a'), at('b'))
    expect(await readFile(at('b'), 'utf8')).toBe('moved')
    expect((await readdir(at('.'))).sort()).toEqual(['b', 'to'])
  })

  test('a file that is deleted while open is gone from the folder and keeps its content for its handle', async () => {
    const file = await open(at('a'), 'w+')
    await file.write('still here')
    await unlink(at('a'))
    expect(await readdir(at('.'))).toEqual([])
    await expect(stat(at('a'))).rejects.toEqual(refusal('ENOENT'))
    await file.write(' and more', 10)
    expect((await file.read(Buffer.alloc(19), 0, 19, 0)).buffer.toString()).toBe('still here and more')
    expect((await file.stat()).size).toBe(19)
    await file.truncate(5)
    await file.sync()
    await file.close()
    await waitUntil('the last trace to go', async () =>
      rmdir(at('.')).then(
        () => true,
        () => false,
      ),
    )
  })

  test('a file that is renamed over while open keeps its content for its handle', async () => {
    await writeFile(at('a'), 'old')
    const file = await open(at('a'), 'r')
    await writeFile(at('b'), 'new')
    await rename(at('b'), at('a'))
    expect(await readFile(at('a'), 'utf8')).toBe('new')
    expect((await file.read(Buffer.alloc(3), 0, 3, 0)).buffer.toString()).toBe('old')
    expect(await readdir(at('.'))).toEqual(['a'])
    await file.close()
    await waitUntil('the old content to go', async () => (await drive.counts()).openHandles === 0)
    expect(await readFile(at('a'), 'utf8')).toBe('new')
  })

  test('O_EXCL is kept even when the kernel does not know yet that the name is taken', async () => {
    const folder = `test-${folders}`
    await expect(stat(at('lock'))).rejects.toEqual(refusal('ENOENT'))
    await drive.ask({ kind: 'put', path: `/${folder}/lock`, text: 'theirs' })
    await expect(open(at('lock'), 'wx')).rejects.toEqual(refusal('EEXIST'))
    await expect(stat(at('other'))).rejects.toEqual(refusal('ENOENT'))
    await drive.ask({ kind: 'put', path: `/${folder}/other`, text: 'theirs' })
    await appendFile(at('other'), ', ours')
    expect(await readFile(at('other'), 'utf8')).toBe('theirs, ours')
  })

  test('a file that grew behind the kernel is not cut short at its old size', async () => {
    const folder = `test-${folders}`
    await writeFile(at('a'), 'short')
    await stat(at('a'))
    await drive.ask({ kind: 'put', path: `/${folder}/a`, text: 'much longer now' })
    expect((await bash('cat "$1"', [at('a')])).stdout).toBe('much longer now')
  })

  test('utimens sets both times to the time of access: the other one does not arrive', async () => {
    await writeFile(at('a'), '')
    await utimes(at('a'), 1_000_000_000.25, 1_200_000_000)
    const { atimeMs, mtimeMs } = await stat(at('a'))
    expect({ atimeMs, mtimeMs }).toEqual({ atimeMs: 1_000_000_000_250, mtimeMs: 1_000_000_000_250 })
  })

  test('a time before 1970 is shown as 1970, not as the far future', async () => {
    await writeFile(at('a'), '')
    await bash('touch -d 1965-06-07 "$1"', [at('a')])
    expect((await stat(at('a'))).mtimeMs).toBe(0)
  })

  test('links and device nodes are refused with EPERM', async () => {
    await writeFile(at('a'), '')
    await expect(link(at('a'), at('b'))).rejects.toEqual(refusal('EPERM'))
    await expect(symlink('a', at('b'))).rejects.toEqual(refusal('EPERM'))
    await expect(bash('mkfifo "$1"', [at('pipe')])).rejects.toThrow('Operation not permitted')
  })

  test('chown leaves what it is not asked to change', async () => {
    await writeFile(at('a'), '')
    const before = await stat(at('a'))
    await bash('chown :"$2" "$1"', [at('a'), String(before.gid)])
    expect(await stat(at('a'))).toMatchObject({ uid: before.uid, gid: before.gid })
  })

  test('statfs answers a terabyte with room to spare', async () => {
    const { bsize, blocks, bavail } = await statfs(drive.path)
    expect(bsize * blocks).toBe(2 ** 40)
    expect(bavail).toBeGreaterThan(0)
  })

  test('no extended attribute and no access check ever asks the filesystem', async () => {
    await writeFile(at('a'), 'x')
    await drive.counts()
    await bash('ls -l "$1"; test -r "$1/a"; cp -p "$1/a" "$1/b"', [at('.')])
    const { calls } = await drive.counts()
    expect(Object.keys(calls).filter((name) => /xattr|access/.test(name))).toEqual([])
  })

  test(
    'an operation may take longer than the 15 seconds the binding would allow',
    { timeout: 60_000 },
    async () => {
      await writeFile(at('a'), '')
      await drive.ask({ kind: 'hold', operation: 'fsync', ignoresSignal: true })
      const file = await open(at('a'), 'r+')
      const synced = file.sync()
      await drive.holds(1)
      const heldAt = performance.now()
      await waitUntil('17 seconds to pass', () => performance.now() - heldAt > 17_000)
      await drive.ask({ kind: 'letGo', operation: 'fsync' })
      await synced
      await file.close()
    },
  )
})

describe.skipIf(why !== undefined)('references of the fuse-native driver', () => {
  test('are all given back when the drive is unmounted, and the program ends by itself', async () => {
    const drive = await mountMemory({ driver: 'fuse-native' })
    try {
      await bash(
        'cd "$1"; mkdir -p a/b/c; for n in $(seq 200); do echo $n > a/b/c/$n; done; find . > /dev/null',
        [drive.path],
      )
      expect((await drive.counts()).rememberedNodes).toBeGreaterThan(200)
      await bash('rm -r "$1"/a', [drive.path])
      await drive.ask({ kind: 'unmount', isLazy: false })
      expect(await drive.closed).toBe('unmounted')
      expect(await drive.counts()).toMatchObject({ rememberedNodes: 0, openHandles: 0 })
    } finally {
      await drive.remove()
    }
    expect(drive.stderr).toBe('')
  })
})
