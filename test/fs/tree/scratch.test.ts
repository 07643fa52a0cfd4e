// Which names never leave the machine.

import { describe, expect, it } from 'vitest'
import { isScratchName, isTrashName } from '../../../src/fs/tree/scratch.ts'

const scratch = [
  'report.txt~', '#report.txt#', '.#report.txt', '.report.txt.swp', '.report.txt.swx', '4913', '.goutputstream-1A2B3C',
  '.~lock.report.ods#', 'lu12345abcde.tmp', 'x.osl-tmp', 'film.mp4.part', 'a.crdownload', 'a.tmp', '~$report.xlsx', '~WRD0001.tmp',
  'sedAb12Cd', '.report.pdf.Xy12Zw', '.fuse_hidden0000001200000001', '._photo.png', '.DS_Store', 'Thumbs.db', 'desktop.ini',
  '.directory', 'data.sqlite-journal', 'data.db-wal',
] // prettier-ignore

const documents = [
  'report.txt', 'report.pdf', 'sed.txt', 'sedation notes', '4913.pdf', 'meeting-journal', 'a~b.txt', 'partial.csv', '.notes.config',
  'lock.txt', '.profile', 'temporary.xml',
] // prettier-ignore

describe('scratch names', () => {
  for (const name of scratch) it(`${name} stays here`, () => expect(isScratchName(name)).toBe(true))
  for (const name of documents) it(`${name} is a document`, () => expect(isScratchName(name)).toBe(false))
  it('trash folders are known by name', () => {
    expect(['.Trash', '.Trash-1000', '.Trashes'].every(isTrashName)).toBe(true)
    expect(isTrashName('Trash')).toBe(false)
  })
})
