// Names: any language, any length up to 255 bytes.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

const exactly255 = `${'é'.repeat(125)}x.txt`
const exactly256 = `${'é'.repeat(126)}.txt`

export const names: Topic = (it) => {
  for (const name of [
    'Überblick – año 2024.txt',
    '見積書.csv',
    'Žluťoučký kůň.pdf',
    'emoji 📄.txt',
    'quote \' and " and `.txt',
    'percent %20 & plus + hash # question ?.txt',
    'back\\slash.txt',
    '  spaces  .txt',
    'new\nline.txt',
    '-rf.txt',
  ]) {
    it(`${JSON.stringify(name)} is written, listed, read, renamed and deleted`, async ({
      door,
      folder,
      at,
    }) => {
      await door.writeFile(at(name), name)
      expect(await door.readdir(folder)).toEqual([name])
      expect((await door.readFile(at(name))).toString()).toBe(name)
      await door.rename(at(name), at(`renamed ${name}`))
      expect(await door.readdir(folder)).toEqual([`renamed ${name}`])
      await door.unlink(at(`renamed ${name}`))
      expect(await door.readdir(folder)).toEqual([])
    })
  }

  it(
    'names that somebody else put there are read',
    { 'Größe/année 2024/見積書 #1 (50%).csv': 'a,b\n', 'plus+and&amp.txt': 'p' },
    async ({ door, folder, at }) => {
      expect((await door.readdir(folder)).sort()).toEqual(['Größe', 'plus+and&amp.txt'])
      expect((await door.readFile(at('Größe/année 2024/見積書 #1 (50%).csv'))).toString()).toBe('a,b\n')
      expect((await door.readFile(at('plus+and&amp.txt'))).toString()).toBe('p')
    },
  )

  it(
    'folders named like temporary files, and what is in them, are as any others',
    { 'in.tmp/a.txt': 'a' },
    async ({ door, folder, at }) => {
      for (const name of ['sediments', 'X.tmp', 'X.part', 'X~', '.X.swp', '#X#']) {
        await door.mkdir(at(name))
        await door.writeFile(at(`${name}/report.txt`), name)
      }
      await door.rename(at('X.tmp'), at('Y.tmp'))
      await door.rename(at('in.tmp'), at('out.part'))
      expect((await door.readdir(folder)).sort()).toEqual(
        ['#X#', '.X.swp', 'X.part', 'X~', 'Y.tmp', 'out.part', 'sediments'].sort(),
      )
    },
  )

  it(
    'a document renamed to a name like a temporary one is not deleted from the service',
    { 'doc.txt': 'sedatives', 'a.txt': 'tmp', 'b.txt': 'b' },
    async ({ door, folder, at }) => {
      await door.rename(at('doc.txt'), at('sedatives'))
      await door.rename(at('a.txt'), at('a.tmp'))
      await door.rename(at('b.txt'), at('b.txt~'))
      expect((await door.readdir(folder)).sort()).toEqual(['a.tmp', 'b.txt~', 'sedatives'])
      expect((await door.readFile(at('a.tmp'))).toString()).toBe('tmp')
    },
  )

  it(
    'backups that are asked for by name are documents',
    { 'a.txt': 'a', 'b.pdf': 'b', plan: 'p', README: 'r' },
    async ({ door, folder, at }) => {
      await door.readdir(folder)
      await door.rename(at('a.txt'), at('a.txt.bak'))
      await door.writeFile(at('a.txt'), 'new a')
      await door.rename(at('README'), at('README.orig'))
      await door.writeFile(at('b.pdf.orig'), 'b')
      await door.writeFile(at('b.pdf.rej'), 'rejected')
      await door.writeFile(at('plan.bak'), 'p')
      const documents = {
        'a.txt': 'new a',
        'a.txt.bak': 'a',
        'b.pdf': 'b',
        'b.pdf.orig': 'b',
        'b.pdf.rej': 'rejected',
        plan: 'p',
        'plan.bak': 'p',
        'README.orig': 'r',
      }
      expect((await door.readdir(folder)).sort()).toEqual(Object.keys(documents).sort())
      await door.behind.waitFor(folder, documents)
    },
  )

  it('ordinary names that resemble temporary ones are documents', async ({ door, at }) => {
    for (const name of ['sediment1', '4913', '~WRITERS', 'f~', 'notes-journal'])
      await door.writeFile(at(name), name)
  })

  it('one that is made for its owner only, as `cp -p` does, is a document too', async ({ door, at }) => {
    const file = await door.open(at('sedation1'), 'wx', 0o600)
    await file.write('x', 0)
    await file.close()
  })

  it('composed and decomposed letters are two names', async ({ door, folder, at }) => {
    const composed = 'caf\u{e9}.txt'
    const decomposed = 'cafe\u{301}.txt'
    await door.writeFile(at(composed), 'composed')
    await door.writeFile(at(decomposed), 'decomposed')
    expect((await door.readdir(folder)).sort()).toEqual([decomposed, composed].sort())
    expect((await door.readFile(at(composed))).toString()).toBe('composed')
    expect((await door.readFile(at(decomposed))).toString()).toBe('decomposed')
  })

  it('upper and lower case are two names', async ({ door, folder, at }) => {
    await door.writeFile(at('Report.txt'), 'upper')
    await door.writeFile(at('report.txt'), 'lower')
    expect((await door.readdir(folder)).sort()).toEqual(['Report.txt', 'report.txt'])
    expect((await door.readFile(at('Report.txt'))).toString()).toBe('upper')
  })

  it('a name of 255 bytes works', async ({ door, folder, at }) => {
    expect(Buffer.byteLength(exactly255)).toBe(255)
    await door.writeFile(at(exactly255), 'long')
    expect(await door.readdir(folder)).toEqual([exactly255])
    expect((await door.readFile(at(exactly255))).toString()).toBe('long')
  })

  it('a name of 256 bytes is ENAMETOOLONG', async ({ door, folder, at }) => {
    expect(Buffer.byteLength(exactly256)).toBe(256)
    await expect(door.writeFile(at(exactly256), 'long')).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
    await expect(door.mkdir(at(exactly256))).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
    expect(await door.readdir(folder)).toEqual([])
  })
}
