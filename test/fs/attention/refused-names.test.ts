// A name that is refused for its type is counted, named and told, once for each document.

import { afterEach, describe, expect, it } from 'vitest'
import { createClient } from '../../../src/api/client.ts'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import type { Notice } from '../../../src/fs/notice.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService } from '../../support/service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

interface Drive {
  readonly fileSystem: FileSystem
  readonly notices: Notice[]
  readonly warnings: object[]
  readonly calls: ReturnType<typeof objectDoor>
}

async function openDrive(): Promise<Drive> {
  const temporary = await makeTemporaryFolder()
  undo.push(() => temporary.remove())
  const service = await startTestService()
  undo.push(() => service.close())
  await service.other.put('/a.pdf', 'pdf')
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  undo.push(() => client.close())
  const notices: Notice[] = []
  const warnings: object[] = []
  const fileSystem = await createFileSystem({
    files: client.files(project),
    stateDir: `${temporary.path}/state`,
    cacheDir: `${temporary.path}/cache`,
    onNotice: (notice) => notices.push(notice),
    log: { debug() {}, info() {}, error() {}, warn: (fields) => warnings.push(fields) },
  })
  undo.push(() => fileSystem.close())
  return { fileSystem, notices, warnings, calls: objectDoor(fileSystem) }
}

describe('a document whose type is not taken', () => {
  it('is named no longer once it was dismissed, until it is tried again', async () => {
    const { fileSystem, calls } = await openDrive()
    await calls.mkdir('/in')
    const save = (path: string): Promise<unknown> => calls.open(path, 'wx+', 0o600).catch(() => {})
    for (const path of ['/in/b.docx', '/in/c.docx', '/input.docx']) await save(path)
    expect(fileSystem.dismissNames('/in/b.docx')).toBe(1)
    expect(fileSystem.status().refusedNames.map(({ path }) => path)).toEqual(['/in/c.docx', '/input.docx'])
    expect(fileSystem.dismissNames('/in')).toBe(1)
    expect(fileSystem.dismissNames('/in')).toBe(0)
    await save('/in/b.docx')
    expect(fileSystem.status().refusedNames).toMatchObject([
      { path: '/input.docx' },
      { path: '/in/b.docx', count: 1 },
    ])
  })

  it('is named with what it is and how often it was tried', async () => {
    const { fileSystem, notices, warnings, calls } = await openDrive()
    await calls.mkdir('/in')
    for (const name of ['/in/b.docx', '/in/b.docx', '/c.zip', '/in/.d.odt.Xy12Zw'])
      await expect(calls.open(name, 'wx+', 0o600)).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await expect(calls.rename('/a.pdf', '/in/a.gif')).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    expect(fileSystem.status().refusedNames).toMatchObject([
      { path: '/in/b.docx', what: 'docx files (Word documents)', count: 2 },
      { path: '/c.zip', what: 'zip files (archives)', count: 1 },
      { path: '/in/d.odt', count: 1 },
      { path: '/in/a.gif', count: 1 },
    ])
    expect(notices.map((notice) => (notice.kind === 'unsupported' ? notice.path : notice.kind))).toEqual([
      '/in/b.docx',
      '/c.zip',
      '/in/d.odt',
      '/in/a.gif',
    ])
    expect(warnings).toMatchObject([
      { path: '/in/b.docx' },
      { path: '/c.zip' },
      { path: '/in/d.odt' },
      { path: '/in/a.gif' },
    ])
  })

  it('is one line in the log for many of a kind, and at most a thousand names', async () => {
    const { fileSystem, warnings, calls } = await openDrive()
    for (let count = 0; count < 1_005; count++)
      await expect(calls.open(`/${count}.zip`, 'w')).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    expect(warnings).toHaveLength(1)
    const { refusedNames } = fileSystem.status()
    expect(refusedNames).toHaveLength(1_000)
    expect(refusedNames.at(-1)?.path).toBe('/1004.zip')
  })
})
