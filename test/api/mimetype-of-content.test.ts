import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { headBytes, mimetypeOfContent, mimetypeOfHead } from '../../src/api/mimetype-of-content.ts'
import { contentOfBytes } from '../../src/api/readable-content.ts'
import { oleFile, officeZip, typesOf, workbookTypes } from '../support/office-files.ts'

const mimetypeOf = (bytes: Uint8Array): Promise<string | undefined> =>
  mimetypeOfContent(contentOfBytes(bytes))

const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const xls = 'application/vnd.ms-excel'

const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le')
const hex = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex')
/** Bytes of every value, which no text has. */
const noise = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 151) % 256))

describe('text', () => {
  test.each([
    ['UTF-8', Buffer.from('grüße\tan alle\r\n')],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffGrüße\n')],
    ['UTF-8 cut within a character', Buffer.from('grü').subarray(0, 3)],
    ['UTF-16', utf16('Grüße\n')],
    ['UTF-16, the high byte first', utf16('Grüße\n').swap16()],
    ['UTF-16 cut within a character', utf16('Grüße\n').subarray(0, 9)],
    ['UTF-16 beyond what is looked at', utf16('€ und 😀\r\n'.repeat(20_000))],
    ['Latin-1', Buffer.from('Zürich\n', 'latin1')],
    ['code page 437 with its end of file', hex('5a 81 72 69 63 68 0d 0a 1a')],
    ['Windows-1252', hex('93 51 75 6f 74 65 94 20 80 20 35 0a')],
    ['KOI8-R', hex('f0 d2 c9 d7 c5 d4 0a')],
    ['colours of a terminal', Buffer.from('\u001b[31mred\u001b[0m\n')],
    ['what begins like a bitmap', Buffer.from('BM notes\n')],
    ['what begins like an MP3', Buffer.from('ID3 is a tag\n')],
    ['what begins like a PDF', Buffer.from('%PDF is a format\n')],
    ['what begins like a WAV', Buffer.from('RIFF and WAVE are words\n')],
    ['RIFF, four letters, WAVE', Buffer.from('RIFF1234WAVE of them\n')],
    ['what begins like an OGG', Buffer.from('OggS is a name\n')],
    ['what reads like an MP4', Buffer.from('abcdftypisom is no film\n')],
    ['what begins like a zip', Buffer.from('PK is a kind\n')],
    ['what begins like an archive', Buffer.from('MZ and Rar! and 7z\n')],
    ['a JPEG in words', Buffer.from('JFIF, Exif\n')],
    ['JSON', Buffer.from('{"a": 1}\n')],
    ['HTML', Buffer.from('<!DOCTYPE html><html></html>\n')],
    ['SVG without a declaration', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>\n')],
    ['RTF', Buffer.from('{\\rtf1 letter}')],
    ['PostScript', Buffer.from('%!PS-Adobe-3.0\n')],
    ['a mail', Buffer.from('From: a@example.org\r\nSubject: b\r\n\r\nc\r\n')],
    ['nothing', Buffer.alloc(0)],
  ])('%s', async (_, bytes) => {
    expect(await mimetypeOf(bytes)).toBe('text/plain')
  })

  test.each([
    ['UTF-8', Buffer.from('<?xml version="1.0"?><a/>')],
    ['UTF-8 with a byte order mark', Buffer.from('\ufeff<?xml version="1.0"?><a/>')],
    ['UTF-16', utf16('<?xml version="1.0" encoding="UTF-16"?><a/>')],
    ['Latin-1', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><ü/>', 'latin1')],
  ])('XML in %s', async (_, bytes) => {
    expect(await mimetypeOf(bytes)).toBe('application/xml')
  })
})

describe('a stored type', () => {
  /** A frame of MPEG 1, layer III, 128 kbit/s, 44.1 kHz. */
  const frame = Buffer.concat([hex('fffb9064'), Buffer.alloc(413)])
  /** MPEG 2, layer III, 64 kbit/s, 22.05 kHz, padded. */
  const laterFrame = Buffer.concat([hex('fff38264'), Buffer.alloc(205)])
  const tag = (length: number): Buffer =>
    Buffer.concat([
      hex('494433 0300 00'),
      Buffer.from([21, 14, 7, 0].map((shift) => (length >> shift) & 0x7f)),
      Buffer.alloc(length, 0x41),
    ])
  const ogg = (codec: Buffer): Buffer =>
    Buffer.concat([Buffer.from('OggS\0\u0002'), Buffer.alloc(22), codec, Buffer.alloc(30)])
  const ftyp = (brand: string): Buffer =>
    Buffer.concat([hex('00000018'), Buffer.from(`ftyp${brand}`), hex('00000200'), Buffer.from('isomiso2')])

  test.each([
    ['PDF', Buffer.concat([Buffer.from('%PDF-1.4\n'), noise(5000)]), 'application/pdf'],
    ['a PDF of text alone', Buffer.from('%PDF-1.4 and a body'), 'application/pdf'],
    ['a PDF after a byte order mark', Buffer.from('\ufeff%PDF-2.0\n'), 'application/pdf'],
    ['PNG', hex('89504e470d0a1a0a 0000000d49484452 00000001000000010806000000 1f15c489'), 'image/png'],
    ['JPEG: JFIF', hex('ffd8ffe0 0010 4a46494600 0101 00'), 'image/jpeg'],
    ['JPEG: Exif', hex('ffd8ffe1 0010 457869660000'), 'image/jpeg'],
    ['JPEG: tables first', hex('ffd8ffdb 0043 00080606'), 'image/jpeg'],
    ['WAV', hex('52494646 24000000 57415645 666d7420 10000000 0100'), 'audio/wav'],
    ['MP3', Buffer.concat([frame, frame, frame]), 'audio/mp3'],
    ['MP3: one frame', frame, 'audio/mp3'],
    ['MP3: MPEG 2', Buffer.concat([laterFrame, laterFrame]), 'audio/mp3'],
    ['MP3: tagged', Buffer.concat([tag(100), frame, frame]), 'audio/mp3'],
    ['MP3: tagged with a picture', Buffer.concat([tag(300_000), frame, frame]), 'audio/mp3'],
    [
      'MP3: tagged twice, padded',
      Buffer.concat([tag(9), tag(70), Buffer.alloc(500), frame, frame]),
      'audio/mp3',
    ],
    ['OGG: Vorbis', ogg(Buffer.from('\u0001vorbis\0')), 'audio/ogg'],
    ['OGG: Opus', ogg(Buffer.from('OpusHead\u0001')), 'audio/ogg'],
    ['MP4', ftyp('isom'), 'video/mp4'],
    ['MP4: version 2', ftyp('mp42'), 'video/mp4'],
    ['MP4: iTunes', ftyp('M4V '), 'video/mp4'],
    ['xlsx', officeZip(workbookTypes, { after: 10_000 }), xlsx],
    ['xlsx: its content types last', officeZip(workbookTypes, { before: 300_000 }), xlsx],
    ['xlsx: not packed', officeZip(workbookTypes, { before: 300_000, isPacked: false }), xlsx],
    ['xlsx: a comment at its end', officeZip(workbookTypes, { comment: 'made PK\x05\x06 by hand' }), xlsx],
    ['xls', oleFile({ Workbook: '', '\u0005SummaryInformation': '' }), xls],
    ['xls: Excel 95', oleFile({ Book: '' }), xls],
    ['xls: macros before the workbook', oleFile({ Workbook: '', ...modules(40) }), xls],
    ['xls: large sectors', oleFile({ Workbook: '', ...modules(90) }, { sectorBytes: 4096 }), xls],
    ['xls: 9 MB', oleFile({ Workbook: '', ...modules(40) }, { sectorsBefore: 18_000 }), xls],
  ])('%s', async (_, bytes, mimetype) => {
    expect(await mimetypeOf(bytes)).toBe(mimetype)
  })

  test.each([
    ['zeroes', Buffer.alloc(512)],
    ['noise', noise(600)],
    ['text with zeroes', Buffer.from('text\0more text\n')],
    ['text that ends twice', Buffer.from('text\u001a more text\n')],
    ['UTF-16 without a byte order mark', utf16('Grüße\n').subarray(2)],
    ['UTF-16 that is none', Buffer.concat([hex('fffe'), noise(600)])],
    ['an ELF program', hex('7f454c46020101000000000000000000')],
    ['GIF', Buffer.concat([Buffer.from('GIF89a'), noise(300)])],
    ['RIFF that is no WAV', Buffer.concat([Buffer.from('RIFF\x24\0\0\0WEBPVP8 '), noise(300)])],
    ['the first four bytes of an MP3', Buffer.concat([hex('fffb9064'), noise(2000)])],
    ['layer I', Buffer.concat([hex('fffe9064'), Buffer.alloc(2000)])],
    ['a tag, and no sound', Buffer.concat([tag(100), noise(2000)])],
    ['a tag before FLAC', Buffer.concat([tag(100), Buffer.from('fLaC'), noise(2000)])],
    ['a tag that is cut', tag(100).subarray(0, 50)],
    ['M4A', ftyp('M4A ')],
    ['QuickTime', ftyp('qt  ')],
    ['HEIC', ftyp('heic')],
    ['an OGG film', ogg(Buffer.from('\u0080theora\0'))],
    ['a zip', Buffer.from(zipSync({ 'a.bin': strToU8('x') }))],
    ['a jar', Buffer.from(zipSync({ 'META-INF/MANIFEST.MF': strToU8('x') }))],
    ['ods', Buffer.from(zipSync({ mimetype: strToU8('application/vnd.oasis.opendocument.spreadsheet') }))],
    [
      'docx with a workbook in it',
      officeZip(typesOf('application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml')),
    ],
    ['xlsm', officeZip(typesOf('application/vnd.ms-excel.sheet.macroEnabled.main+xml'))],
    ['xlsx that is cut', officeZip(workbookTypes, { after: 10_000 }).subarray(0, -30)],
    ['doc', oleFile({ WordDocument: '', '1Table': '' })],
    ['doc with a workbook in it', oleFile({ WordDocument: '', ObjectPool: { _1: { Workbook: '' } } })],
    ['msg with a workbook in it', oleFile({ '__properties_version1.0': '', __attach_1: { Workbook: '' } })],
    ['a folder called Workbook', oleFile({ Workbook: { a: '' } })],
    ['OLE that is cut', oleFile({ Workbook: '' }).subarray(0, 700)],
    ['OLE whose directory is a ring', ring()],
  ])('%s is none', async (_, bytes) => {
    expect(await mimetypeOf(bytes)).toBeUndefined()
  })

  /** Modules of macros, beside a workbook that comes before them in the directory's order, and after them in its tree. */
  function modules(count: number): Record<string, string> {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`Module${index}`, '']))
  }

  /** The only entry is before itself, and its sector after itself. */
  function ring(): Buffer {
    const file = oleFile({ WordDocument: '' })
    const directory = 512 * 2
    file.writeUInt32LE(1, directory + 128 + 68)
    file.writeUInt32LE(1, 512 * 3 + 4)
    return file
  }

  test('of a large content a few pieces are read', async () => {
    const bytes = officeZip(workbookTypes, { before: 30_000_000 })
    let read = 0
    const content = {
      size: bytes.length,
      read(offset: number, length: number) {
        read += length
        return bytes.subarray(offset, offset + length)
      },
    }
    expect(await mimetypeOfContent(content)).toBe(xlsx)
    expect(read).toBeLessThan(4 * headBytes)
  })
})

describe('a beginning', () => {
  test.each([
    ['of a PDF', Buffer.from('%PDF-1.7\n'), 'application/pdf'],
    ['of text', Buffer.from('a text\n'.repeat(10_000)), 'text/plain'],
    ['of a workbook', officeZip(workbookTypes, { before: 100_000 }), 'undetermined'],
    ['of a former workbook', oleFile({ Workbook: '' }, { sectorsBefore: 300 }), 'undetermined'],
    ['of a tagged MP3', hex('494433 0300 00 00 7f 7f 7f 00'), 'undetermined'],
    ['that is not written yet', Buffer.alloc(headBytes), 'undetermined'],
    ['of nothing stored', noise(headBytes), undefined],
    ['of a program', Buffer.concat([hex('7f454c46020101'), noise(headBytes)]), undefined],
  ])('%s', async (_, bytes, verdict) => {
    expect(await mimetypeOfHead(bytes.subarray(0, headBytes))).toBe(verdict)
  })
})
