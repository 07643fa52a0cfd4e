// Files without a known extension, and the mimetype by which the drive and `put` store each; undefined: they refuse it.

import { oleFile, officeZip, typesOf, workbookTypes } from './office-files.ts'

export const untypedFiles: readonly {
  readonly name: string
  readonly bytes: Buffer
  readonly mimetype: string | undefined
}[] = [
  { name: 'utf-16', bytes: Buffer.from('\ufeffGrüße\n', 'utf16le'), mimetype: 'text/plain' },
  { name: 'latin-1', bytes: Buffer.from('Zürich\n', 'latin1'), mimetype: 'text/plain' },
  { name: 'tag', bytes: Buffer.from('ID3 is a tag\n'), mimetype: 'text/plain' },
  { name: 'pdf', bytes: Buffer.from('%PDF-1.4 and a body'), mimetype: 'application/pdf' },
  {
    name: '2A2B3C00',
    bytes: officeZip(workbookTypes, { before: 300_000 }),
    mimetype: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  },
  {
    name: '2A2B3D00',
    bytes: oleFile({ Workbook: '' }, { sectorsBefore: 600 }),
    mimetype: 'application/vnd.ms-excel',
  },
  { name: 'letter', bytes: oleFile({ WordDocument: '' }, { sectorsBefore: 600 }), mimetype: undefined },
  {
    name: 'letter of today',
    bytes: officeZip(
      typesOf('application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'),
      { before: 300_000 },
    ),
    mimetype: undefined,
  },
]
