#!/usr/bin/env node
// Writes sample documents of several types, the same every time, without packages: scripts/samples.mjs FOLDER
// The large one is written in pieces; all others are small.

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'

const folder = process.argv[2]
if (folder === undefined) {
  console.error('usage: scripts/samples.mjs FOLDER')
  process.exit(2)
}

const documents = {
  'Welcome.txt': 'Welcome to the project acme.\nEverything in this folder is a document in the service.\n',
  'Überblick – été 2024.txt': 'Größe, année, coût: Umlaute und Akzente überleben die Reise.\n',
  '見積書 2024.txt': '見積書\n件名: 文書ドライブ\n合計: ¥128,000\n',
  'invoices/2024/INV-1001.pdf': pdf(['Invoice INV-1001', 'ACME Ltd.', 'Total: 1,280.00 EUR']),
  'invoices/2024/INV-1002.pdf': pdf(['Invoice INV-1002', 'Globex Corp.', 'Total: 312.50 EUR']),
  'invoices/totals.csv': 'invoice,customer,total\nINV-1001,ACME Ltd.,1280.00\nINV-1002,Globex Corp.,312.50\n',
  'invoices/totals.xlsx': xlsx([
    ['invoice', 'customer', 'total'],
    ['INV-1001', 'ACME Ltd.', 1280],
    ['INV-1002', 'Globex Corp.', 312.5],
  ]),
  'data/settings.json': `${JSON.stringify({ currency: 'EUR', tolerance: 0.01, tags: ['demo', 'été'] }, undefined, 2)}\n`,
  'data/orders.xml':
    '<?xml version="1.0" encoding="UTF-8"?>\n<orders>\n  <order id="1001" total="1280.00">ACME Ltd.</order>\n</orders>\n',
  'mail/Order confirmation.eml': eml(),
  'pictures/gradient.png': png(256, 160),
}

for (const [name, content] of Object.entries(documents)) await put(name, content)
await putLargeCsv('data/measurements.csv', 21 * 1024 * 1024)

async function put(name, content) {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}

/** Writes rows of pseudo-random measurements until the file has at least `sizeBytes`. */
async function putLargeCsv(name, sizeBytes) {
  const path = join(folder, name)
  await mkdir(dirname(path), { recursive: true })
  const file = createWriteStream(path)
  let seed = 20_240_229
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0)
  let row = 0
  file.write('row,station,celsius,pascal\n')
  for (let bytes = 0; bytes < sizeBytes;) {
    let piece = ''
    for (let line = 0; line < 5_000; line++) {
      piece += `${++row},S${random() % 97},${((random() % 6_000) / 100 - 20).toFixed(2)},${90_000 + (random() % 20_000)}\n`
    }
    bytes += piece.length
    if (!file.write(piece)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
}

/** Returns a PDF with one page of text. */
function pdf(lines) {
  const text = lines.map((line, index) => `1 0 0 1 72 ${740 - index * 24} Tm (${line}) Tj`).join('\n')
  const stream = `BT /F1 16 Tf\n${text}\nET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const count = objects.length + 1
  return `${file}xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
}

/** Returns a PNG with a colour gradient. */
function png(width, height) {
  const rows = Buffer.alloc((width * 3 + 1) * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * (width * 3 + 1) + 1 + x * 3
      rows[at] = x
      rows[at + 1] = y
      rows[at + 2] = 255 - x
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const frame = Buffer.alloc(body.length + 8)
    frame.writeUInt32BE(data.length, 0)
    body.copy(frame, 4)
    frame.writeUInt32BE(checksum(body), body.length + 4)
    return frame
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Returns a workbook with one sheet: a zip of five XML parts. */
function xlsx(rows) {
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
  const cells = rows.map((row, y) => {
    const inRow = row.map((value, x) => {
      const reference = `${String.fromCharCode(65 + x)}${y + 1}`
      return typeof value === 'number'
        ? `<c r="${reference}"><v>${value}</v></c>`
        : `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`
    })
    return `<row r="${y + 1}">${inRow.join('')}</row>`
  })
  return zip({
    '[Content_Types].xml': `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
    '_rels/.rels': `${head}<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${head}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="Totals" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${head}<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `${head}<worksheet xmlns="${main}"><sheetData>${cells.join('')}</sheetData></worksheet>`,
  })
}

/** Returns a zip with uncompressed entries, dated 1980-01-01. */
function zip(entries) {
  const parts = []
  const directory = []
  let offset = 0
  for (const [name, text] of Object.entries(entries)) {
    const nameBytes = Buffer.from(name)
    const content = Buffer.from(text)
    // Version 2.0, no flags, uncompressed, earliest date, checksum, sizes: the same in both headers of the entry.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x21, 8)
    common.writeUInt32LE(checksum(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    parts.push(Buffer.from('PK\u0003\u0004'), common, nameBytes, content)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), common, place, nameBytes)
    offset += 4 + common.length + nameBytes.length + content.length
  }
  const directoryBytes = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  const count = Object.keys(entries).length
  end.writeUInt16LE(count, 4)
  end.writeUInt16LE(count, 6)
  end.writeUInt32LE(directoryBytes.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, directoryBytes, Buffer.from('PK\u0005\u0006'), end])
}

function eml() {
  return [
    'From: Orders <orders@example.com>',
    'To: Accounts <accounts@example.com>',
    'Subject: =?UTF-8?Q?Order_confirmation_=E2=80=93_1001?=',
    'Date: Thu, 29 Feb 2024 09:30:00 +0000',
    'Message-ID: <1001@example.com>',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Your order 1001 was received. Total: 1,280.00 €.',
    '',
  ].join('\r\n')
}

/** Returns the CRC-32 as an unsigned number, as zip and PNG store it. */
function checksum(bytes) {
  return crc32(bytes) >>> 0
}
