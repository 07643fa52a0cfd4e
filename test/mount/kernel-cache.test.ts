// Caches of the kernel: what they keep, what they give back, and what they hear of changes behind their back. Times
// to live are ten minutes: whatever is seen sooner was pushed.

import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { mountMemory, type MemoryMount } from '../support/memory-mount.ts'
import { bash } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()
const tenMinutesMs = 600_000

describe.skipIf(why !== undefined)(`the kernel’s cache${why === undefined ? '' : ` (${why})`}`, () => {
  let drive: MemoryMount

  beforeEach(async () => {
    drive = await mountMemory({
      fileSystem: {
        entryTtlMs: tenMinutesMs,
        attributeTtlMs: tenMinutesMs,
        negativeTtlMs: tenMinutesMs,
        keepCache: true,
        keepListing: 'once-listed',
      },
    })
  })

  afterEach(async () => {
    await drive.remove()
    expect(drive.stderr).toBe('')
  })

  async function calls(): Promise<Record<string, number>> {
    return { ...(await drive.counts()).calls }
  }

  /**
   * Requests of the kernel when a folder is listed for the second time. One that wants memory back drops pages of a
   * listing as it does those of a file: then another folder, made and listed as the first was, has to do.
   */
  async function askedForAgain(
    make: (folder: string) => Promise<unknown>,
    list: (folder: string) => Promise<unknown>,
  ): Promise<Record<string, number>> {
    let asked: Record<string, number> = {}
    for (const name of ['first', 'second', 'third']) {
      await make(drive.at(name))
      await list(drive.at(name))
      await calls()
      await list(drive.at(name))
      asked = await calls()
      if (asked['readdir'] === undefined) break
    }
    return asked
  }

  test('keeps names and attributes for their time to live', async () => {
    await writeFile(drive.at('a'), 'x')
    await stat(drive.at('a'))
    await calls()
    await stat(drive.at('a'))
    expect(await calls()).toEqual({})
  })

  test('ls -l of 10,000 files again asks for no file', async () => {
    const asked = await askedForAgain(
      async (folder) => {
        await bash('mkdir "$1"; cd "$1"; seq -f "file-%05g" 1 10000 | xargs touch', [folder])
        await bash('echo 2 > /proc/sys/vm/drop_caches', [], { mayFail: true })
      },
      (folder) => bash('ls -l "$1"', [folder]),
    )
    const { opendir, releasedir: _, ...others } = asked
    expect(opendir).toBe(1)
    // The folder's own attributes, where they have expired meanwhile.
    expect([{}, { getattr: 1 }]).toContainEqual(others)
  })

  test('keeps the news that a name is missing until it is told otherwise', async () => {
    await expect(stat(drive.at('a'))).rejects.toThrow('ENOENT')
    await drive.ask({ kind: 'put', path: '/a', text: 'x' })
    await expect(stat(drive.at('a'))).rejects.toThrow('ENOENT')
    await drive.ask({ kind: 'notifyName', parent: 1, name: 'a' })
    await waitUntil('the name', () =>
      stat(drive.at('a')).then(
        () => true,
        () => false,
      ),
    )
  })

  test('forgets the documents it is asked to let go of', async () => {
    const nodes = []
    for (const name of ['a', 'b', 'c']) {
      const ino = Number(await drive.ask({ kind: 'put', path: `/${name}`, text: name }))
      nodes.push({ ino, kind: 'file', parent: 1, name } as const)
      await stat(drive.at(name))
    }
    const remembered = async (): Promise<number> => (await drive.counts()).rememberedNodes
    const before = await remembered()
    await drive.ask({ kind: 'notifyUnused', nodes })
    await expect.poll(remembered).toBe(before - 3)
    expect(await readFile(drive.at('a'), 'utf8')).toBe('a')
  })

  /** Requests of the kernel when a document is read for the second time; another one has to do where it dropped pages. */
  async function askedToReadAgain(): Promise<Record<string, number>> {
    let asked: Record<string, number> = {}
    for (const name of ['a', 'b', 'c']) {
      await drive.ask({ kind: 'put', path: `/${name}`, text: 'x'.repeat(300_000) })
      await readFile(drive.at(name))
      await calls()
      await readFile(drive.at(name))
      asked = await calls()
      if (asked['read'] === undefined) break
    }
    return asked
  }

  test('keeps pages over a reopen: a second read opens and releases, and asks for nothing else', async () => {
    const { open, release: _, flush, ...others } = await askedToReadAgain()
    expect(open).toBe(1)
    // When it was read last, for a program that looks at its attributes.
    expect([{}, { getattr: 1 }]).toContainEqual(others)
    // Linux asks at each close of a document up to 5.16.
    const [major = 0, minor = 0] = release().split('.').map(Number)
    if (major > 5 || (major === 5 && minor >= 17)) expect(flush).toBeUndefined()
  })

  test('keeps listings: a second ls sends no READDIR, and an own change drops them', async () => {
    const asked = await askedForAgain(
      async (folder) => {
        await mkdir(folder)
        await writeFile(`${folder}/a`, '')
      },
      async (folder) => expect(await readdir(folder)).toEqual(['a']),
    )
    expect(asked).not.toHaveProperty('readdir')
    await writeFile(drive.at('first/b'), '')
    expect((await readdir(drive.at('first'))).sort()).toEqual(['a', 'b'])
  })

  test('a pushed name shows up in a cached listing', async () => {
    await writeFile(drive.at('a'), '')
    expect(await readdir(drive.path)).toEqual(['a'])
    await drive.ask({ kind: 'put', path: '/b', text: 'new', notify: 'entry' })
    await waitUntil('the name', async () => (await readdir(drive.path)).length === 2)
  })

  test('pushed content is read, also where the length is the same', async () => {
    await drive.ask({ kind: 'put', path: '/a', text: 'first' })
    expect(await readFile(drive.at('a'), 'utf8')).toBe('first')
    await drive.ask({ kind: 'put', path: '/a', text: 'third', notify: 'content' })
    await waitUntil('the content', async () => (await readFile(drive.at('a'), 'utf8')) === 'third')
  })

  test('pushed attributes bring their content with them: a new size or time drops the pages', async () => {
    await drive.ask({ kind: 'put', path: '/a', text: 'first' })
    expect(await readFile(drive.at('a'), 'utf8')).toBe('first')
    await drive.ask({ kind: 'put', path: '/a', text: 'second one', notify: 'attributes' })
    await waitUntil('the size', async () => (await stat(drive.at('a'))).size === 10)
    expect(await readFile(drive.at('a'), 'utf8')).toBe('second one')
  })

  test('our own appends after a pushed change land behind it', async () => {
    await drive.ask({ kind: 'put', path: '/a', text: 'one\n' })
    await stat(drive.at('a'))
    const ino = await drive.ask({ kind: 'put', path: '/a', text: 'one\ntwo\n', notify: 'content' })
    await appendFile(drive.at('a'), 'three\n')
    expect(ino).toBe((await stat(drive.at('a'))).ino)
    await waitUntil('the lines', async () => (await readFile(drive.at('a'), 'utf8')) === 'one\ntwo\nthree\n')
  })

  test.skipIf(process.getuid?.() !== 0)(
    'gives every reference back: after a walk of a large tree and a drop of caches none is left',
    async () => {
      const build =
        'cd "$1"; for d in {1..60}; do mkdir -p t$d/u; (cd t$d/u; seq 1 50 | xargs touch); done; ls -lR . | wc -l'
      await bash(build, [drive.path])
      await bash('find "$1" -type f | wc -l; ls -laR "$1" | wc -l; stat "$1"/*/u/* | wc -l', [drive.path])
      expect((await drive.counts()).rememberedNodes).toBeGreaterThan(3000)
      await waitUntil('no reference', async () => {
        await bash('echo 2 > /proc/sys/vm/drop_caches', [])
        const { rememberedNodes, openHandles } = await drive.counts()
        return rememberedNodes === 0 && openHandles === 0
      })
      const { stdout } = await bash('find "$1" -type f | wc -l', [drive.path])
      expect(stdout.trim()).toBe('3000')
    },
  )
})
