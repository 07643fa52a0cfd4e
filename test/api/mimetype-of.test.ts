import { describe, expect, test } from 'vitest'
import { isTypeDecidedByContent, mimetypeOfName } from '../../src/api/mimetype-of.ts'
import { kindOfUnsupported } from '../../src/api/unsupported-kind.ts'

describe('the mimetype of a name', () => {
  test.each([
    ['a.pdf', 'application/pdf'],
    ['A.PDF', 'application/pdf'],
    ['a.json', 'application/json'],
    ['a.xml', 'application/xml'],
    ['a.jpg', 'image/jpeg'],
    ['a.JFIF', 'image/jpeg'],
    ['a.png', 'image/png'],
    ['a.csv', 'text/csv'],
    ['a.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    ['a.xls', 'application/vnd.ms-excel'],
    ['a.mp4', 'video/mp4'],
    ['a.mp3', 'audio/mp3'],
    ['a.wav', 'audio/wav'],
    ['a.ogg', 'audio/ogg'],
    ['a.opus', 'audio/ogg'],
    ['a.eml', 'message/rfc822'],
    ['a.mhtml', 'message/rfc822'],
    ['a.txt', 'text/plain'],
    ['notes.md', 'text/plain'],
    ['page.html', 'text/plain'],
    ['a.yaml', 'text/plain'],
    ['main.ts', 'text/plain'],
    ['Invoice No. 12.pdf', 'application/pdf'],
    ['.hidden.csv', 'text/csv'],
    ['report.pdf.bak', 'application/pdf'],
    ['table.csv.orig', 'text/csv'],
    ['table.csv.rej', 'text/plain'],
  ])('%s is %s', (name, mimetype) => {
    expect(mimetypeOfName(name)).toBe(mimetype)
    expect(isTypeDecidedByContent(name)).toBe(false)
  })

  test.each(['a.docx', 'a.zip', 'a.webp', 'a.tiff', 'a.m4a', 'a.xlsm', 'a.msg', 'a.docx.orig'])(
    '%s is refused',
    (name) => {
      expect(mimetypeOfName(name)).toBeUndefined()
      expect(isTypeDecidedByContent(name)).toBe(false)
    },
  )

  test.each([
    'Makefile',
    '.profile',
    'Invoice No. 12',
    'syslog.1',
    'report 3.11 final',
    'ends with a dot.',
    '4913',
    'a.unknown',
    'a.txt~',
    'plan.bak',
    'St.Gallen',
    'contract.signed',
    'yarn.lock',
  ])('%s is decided by content', (name) => {
    expect(mimetypeOfName(name)).toBeUndefined()
    expect(isTypeDecidedByContent(name)).toBe(true)
  })

  test('what is refused has a name', () => {
    expect(kindOfUnsupported('a.zip')).toBe('zip files (archives)')
    expect(kindOfUnsupported('Letter.DOCX')).toBe('docx files (Word documents)')
    expect(kindOfUnsupported('a.nobody-knows')).toBe('nobody-knows files')
    expect(kindOfUnsupported('Makefile')).toBe('files of this type')
    expect(kindOfUnsupported('letter.docx.bak')).toBe('docx files (Word documents)')
    expect(kindOfUnsupported('drawing.bak')).toBe('bak files')
  })
})
