import { describe, expect, test } from 'vitest'
import { isTypeDecidedByContent, mimetypeOfName, sniffMimetype } from '../../src/api/mimetype-of.ts'
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

  test.each([
    'a.docx',
    'a.zip',
    'a.webp',
    'a.tiff',
    'a.m4a',
    'a.xlsm',
    'a.msg',
    'a.unknown',
    'a.txt~',
    'plan.bak',
    'a.docx.orig',
  ])('%s is refused', (name) => {
    expect(mimetypeOfName(name)).toBeUndefined()
    expect(isTypeDecidedByContent(name)).toBe(false)
  })

  test.each([
    'Makefile',
    '.profile',
    'Invoice No. 12',
    'syslog.1',
    'report 3.11 final',
    'ends with a dot.',
    '4913',
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
    expect(kindOfUnsupported('drawing.bak')).toBe('bak files (backups)')
  })
})

describe('the mimetype of content', () => {
  const png = '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489'
  /** The first entry of an archive, stored without compression. */
  const zipOf = (name: string, content: string): Buffer => {
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    header.writeUInt16LE(20, 4)
    header.writeUInt32LE(content.length, 18)
    header.writeUInt32LE(content.length, 22)
    header.writeUInt16LE(name.length, 26)
    return Buffer.concat([header, Buffer.from(name), Buffer.from(content)])
  }
  const workbook =
    '<Override ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
  test.each([
    ['PDF', Buffer.from('%PDF-1.7\n'), 'application/pdf'],
    ['PNG', Buffer.from(png, 'hex'), 'image/png'],
    ['JPEG', Buffer.from('ffd8ffe000104a46494600010100', 'hex'), 'image/jpeg'],
    ['MP4', Buffer.from('000000186674797069736f6d0000020069736f6d', 'hex'), 'video/mp4'],
    ['MP3', Buffer.from('fffb90640000000000000000', 'hex'), 'audio/mp3'],
    ['WAV', Buffer.from('524946462400000057415645666d7420', 'hex'), 'audio/wav'],
    [
      'OGG',
      Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from('\u0001vorbis\0')]),
      'audio/ogg',
    ],
    [
      'a workbook',
      zipOf('[Content_Types].xml', workbook),
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ],
    ['XML', Buffer.from('<?xml version="1.0"?><a/>'), 'application/xml'],
    ['text', Buffer.from('grüße\tan alle\r\n'), 'text/plain'],
    ['text cut within a character', Buffer.from('grü').subarray(0, 3), 'text/plain'],
    ['text that begins like a bitmap', Buffer.from('BMW 1 and 2'), 'text/plain'],
    ['nothing', Buffer.alloc(0), 'text/plain'],
    ['Latin-1', Buffer.from('grüße', 'latin1'), undefined],
    ['a zip', zipOf('a.bin', 'x'), undefined],
    ['zeroes', Buffer.alloc(512), undefined],
    ['an ELF program', Buffer.from('7f454c46020101000000000000000000', 'hex'), undefined],
  ])('%s', async (_, head, mimetype) => {
    expect(await sniffMimetype(head, 'no extension')).toBe(mimetype)
  })

  test('does not overrule an extension', async () => {
    expect(await sniffMimetype(Buffer.from('%PDF-1.7\n'), 'a.csv')).toBe('text/csv')
    expect(await sniffMimetype(Buffer.from('%PDF-1.7\n'), 'a.docx')).toBeUndefined()
  })
})
