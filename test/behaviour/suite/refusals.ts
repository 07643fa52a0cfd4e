// Refusals of docmount, each at once.

import { expect } from 'vitest'

import type { Topic } from '../topic.ts'

export const refusals: Topic = (it) => {
  it('a type the service has no place for is EOPNOTSUPP at create', async ({ door, folder, at }) => {
    await expect(door.open(at('archive.zip'), 'w')).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await expect(door.writeFile(at('program.exe'), 'MZ')).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    expect(await door.readdir(folder)).toEqual([])
  })

  it(
    'a rename to a type the service has no place for is EOPNOTSUPP',
    { 'a.pdf': 'pdf' },
    async ({ door, folder, at }) => {
      await expect(door.rename(at('a.pdf'), at('a.zip'))).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
      expect(await door.readdir(folder)).toEqual(['a.pdf'])
    },
  )

  it('the temporary file of such a document is refused before its bytes are sent', async ({
    door,
    folder,
    at,
  }) => {
    for (const name of ['.report.docx.Xy12Zw', 'archive.zip.part', 'program.exe.crdownload'])
      await expect(door.open(at(name), 'wx+', 0o600), name).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    expect(await door.readdir(folder)).toEqual([])
  })

  it('a name without an extension is judged by its content when it is closed', async ({
    door,
    folder,
    at,
  }) => {
    await door.writeFile(at('scan'), '%PDF-1.7 and the rest')
    const file = await door.open(at('noise'), 'w')
    await file.write(
      Uint8Array.from({ length: 600 }, (_, index) => (index * 151) % 256),
      0,
    )
    await expect(file.close()).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await door.unlink(at('noise'))
    await door.behind.waitFor(folder, { scan: '%PDF-1.7 and the rest' })
  })

  it('a trash folder below the root is EPERM', async ({ door, folder, at }) => {
    await expect(door.mkdir(at('.Trash-1000'))).rejects.toMatchObject({ code: 'EPERM' })
    await expect(door.mkdir(at('.Trash'))).rejects.toMatchObject({ code: 'EPERM' })
    expect(await door.readdir(folder)).toEqual([])
  })

  it('hard links and symbolic links are EPERM', { 'a.txt': 'a' }, async ({ door, at }) => {
    await expect(door.link(at('a.txt'), at('b.txt'))).rejects.toMatchObject({ code: 'EPERM' })
    await expect(door.symlink('a.txt', at('c.txt'))).rejects.toMatchObject({ code: 'EPERM' })
  })

  it('text-like names without a type of their own are stored as text', async ({ door, folder, at }) => {
    for (const name of ['README.md', 'page.html', 'settings.yaml', 'main.py', 'LICENSE']) {
      await door.writeFile(at(name), `text of ${name}\n`)
    }
    expect((await door.readdir(folder)).sort()).toEqual([
      'LICENSE',
      'README.md',
      'main.py',
      'page.html',
      'settings.yaml',
    ])
  })
}
