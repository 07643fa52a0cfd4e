// A path that is too deep for the service: it does not say so beforehand, and one refusal tells.

import { describe, expect, it } from 'vitest'

import { ApiError } from '../../../src/api/errors.ts'
import { PathDepth } from '../../../src/fs/tree/path-depth.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'

/** The reference service takes so many names in a path. */
const taken = 64
const folderOf = (depth: number): string =>
  `/${Array.from({ length: depth }, (_, index) => `d${index}`).join('/')}`

async function found(drive: HeldDrive): Promise<void> {
  for (let depth = 1; depth <= taken; depth++) await drive.calls().mkdir(folderOf(depth))
  // The first one tells.
  await expect(drive.calls().writeFile(`${folderOf(taken)}/first.txt`, 'x')).rejects.toMatchObject({
    code: 'ENAMETOOLONG',
  })
}

describe('a path that is too deep for the service', () => {
  it('is ENAMETOOLONG at once, after the first that was refused', async () => {
    await using drive = await openHeld({}, { closeWaitMs: Infinity })
    await drive.calls().writeFile('/b.txt', 'b')
    await drive.calls().mkdir('/folder')
    await found(drive)
    const deep = folderOf(taken)
    const tooLong = { code: 'ENAMETOOLONG' }
    const puts = (): number => drive.testService.service.calls.filter(({ method }) => method === 'PUT').length
    const before = puts()
    await expect(drive.calls().open(`${deep}/b.txt`, 'w')).rejects.toMatchObject(tooLong)
    await expect(drive.calls().mkdir(`${deep}/d`)).rejects.toMatchObject(tooLong)
    await expect(drive.calls().rename('/b.txt', `${deep}/b.txt`)).rejects.toMatchObject(tooLong)
    await expect(drive.calls().rename('/folder', `${deep}/folder`)).rejects.toMatchObject(tooLong)
    expect(puts()).toBe(before)
    expect(await drive.calls().readdir(deep)).toEqual(['first.txt'])
    expect(await drive.calls().readFile('/b.txt')).toEqual(Buffer.from('b'))
    // Nor is what stays here: libfuse 2 renames so what is deleted while it is open.
    const file = await drive.calls().open(`${deep}/first.txt`, 'r+')
    await drive.calls().rename(`${deep}/first.txt`, `${deep}/.fuse_hidden0000000100000001`)
    await file.close()
    // One less deep is a document like any other.
    await drive.calls().writeFile(`${folderOf(taken - 1)}/c.txt`, 'c')
    expect((await drive.testService.other.bytes(`${folderOf(taken - 1)}/c.txt`)).toString()).toBe('c')
  })

  it('is taken again once something as deep has arrived, and by nothing else', () => {
    const depth = new PathDepth()
    const refusal = (words: string): ApiError => new ApiError({ method: 'PUT', path: '/a/b/c' }, 400, words)
    depth.refused('/a/b/c', refusal('the name contains a character that is not allowed'))
    depth.check('/a/b', 'd')
    depth.refused('/a/b/c/d', refusal('path exceeds the maximum depth'))
    depth.refused('/a/b/c', refusal('the path is more than 2 names deep'))
    expect(() => depth.check('/a/b', 'd')).toThrow('/a/b/d: the service takes at most 2 names in a path')
    depth.check('/a', 'b')
    depth.taken('/a/b')
    expect(() => depth.check('/a/b', 'd')).toThrow()
    depth.taken('/x/y/z')
    depth.check('/a/b/c', 'd')
  })
})
