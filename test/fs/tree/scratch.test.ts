// Which files begin their life on this machine only: those whose names tell no type, those made as temporary files are, and
// what is no document, ever. A name that tells a type is a document, and so is one without any ending.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import { isTypeDecidedByContent, mimetypeOfName } from '../../../src/api/mimetype-of.ts'
import { isOfUnsupportedKind } from '../../../src/api/unsupported-kind.ts'
import {
  beginsHere,
  finalName,
  isBackupName,
  isHiddenName,
  isLocalName,
  isMadeAsTemporary,
  isOwnName,
  isTrashName,
  isUndecidedName,
  namedAfter,
  whyLocal,
} from '../../../src/fs/tree/scratch.ts'

const alone = (): boolean => false
const beside =
  (...names: string[]) =>
  (name: string): boolean =>
    names.includes(name)
const untold = { isMadeTemporary: false, isCutOff: false }

/** As ordinary programs make files: a shell, cp, cp -p, an editor, a program that wants a new file, one with umask 077. */
const ordinaryMakings = [
  { exclusive: false, mode: 0o644, readWrite: false },
  { exclusive: true, mode: 0o644, readWrite: false },
  { exclusive: true, mode: 0o600, readWrite: false },
  { exclusive: false, mode: 0o644, readWrite: true },
  { exclusive: true, mode: 0o664, readWrite: true },
  { exclusive: false, mode: 0o600, readWrite: true },
]

/** A hundred thousand names that people give. */
function ordinaryNames(): Set<string> {
  const words = readFileSync(new URL('words.txt', import.meta.url), 'utf8')
    .split(/\s+/)
    .filter(Boolean)
  const extensions =
    'pdf txt csv xlsx docx md json jpg png eml xml mp4 wav html zip old bak backup config'.split(' ')
  const names = new Set<string>(['4913'])
  for (const [at, word] of words.entries()) {
    const other = words[(at * 7 + 13) % words.length] ?? ''
    const extension = extensions[at % extensions.length] ?? ''
    const day = `${2015 + (at % 12)}-${String((at % 12) + 1).padStart(2, '0')}-${String((at % 28) + 1).padStart(2, '0')}`
    for (const name of [
      word, word.toUpperCase(), `${word}${at % 100}`, `${word}${2000 + (at % 30)}`, `${word} ${other}`, `${word}.${extension}`,
      `${word}-${other}.${extension}`, `${word}_final_v${at % 9}.${extension}`, `${word} (copy).${extension}`, `${word}~1.${extension}`,
      `~${word}.${extension}`, `#${at % 9} ${word}`, `.${word}`, `.${word}.${extension}`, `.${word}.${other}`, `${word}.${other}`,
      `${word}-journal`, day, `${day} ${word}`, `${day.replaceAll('-', '')}_${word}.${extension}`, `${at}`, `${word}${day}.${extension}`,
      `${other.slice(0, 3)}${word}`, `${word}.part${at % 9}.${extension}`,
    ]) names.add(name) // prettier-ignore
  }
  return names
}

describe('ordinary names', () => {
  const names = ordinaryNames()
  // All in one folder.
  const isBeside = (name: string): boolean => names.has(name)

  it('are made as no temporary file is', () => {
    expect(ordinaryMakings.filter(isMadeAsTemporary)).toEqual([])
  })

  it('a hundred thousand of them are documents at once, or undecided, and none stays here for its name', () => {
    expect(names.size).toBeGreaterThan(100_000)
    expect(names).toContain('sediments')
    const begun = [...names].filter((name) => beginsHere(name, false, isBeside))
    expect(begun.filter((name) => !isUndecidedName(name))).toEqual([])
    expect(begun.filter((name) => whyLocal(name, isBeside, untold) !== undefined)).toEqual([])
    expect(begun.filter((name) => mimetypeOfName(name) !== undefined || isOfUnsupportedKind(name))).toEqual(
      [],
    )
    expect([...names].filter(isHiddenName)).toEqual([])
  })

  it('those that tell their type, and those without any ending, wait for nothing', () => {
    const plain = [...names].filter((name) => mimetypeOfName(name) !== undefined || !name.includes('.'))
    expect(plain.length).toBeGreaterThan(50_000)
    expect(plain.filter((name) => beginsHere(name, false, isBeside) || isLocalName(name))).toEqual([])
  })

  it.each([
    'sediments', 'sed-01.txt', '4913', 'a~b.txt', '.notes.config', '~WRITERS', 'f~', 'meeting-journal', 'No. 12', 'Prof. Smith',
    'report (1).pdf', 'trailing dot.', 'x.PDF', 'plan.bak', 'README.orig',
  ])('%s is a document at once', (name) => {
    expect(beginsHere(name, false, alone)).toBe(false)
  }) // prettier-ignore

  it.each([
    'St.Gallen', '2026.Q1', 'contract.signed', 'b.csv_old', 'app.log-20261126', 'report.pdf.asc', 'bank.sta', 'order.edi',
    'photo.xmp', 'report.pdf.1', 'report.pdf?token=a.b', '1764147600.M1P2.host:2,S', 'archive.mbox', 'k.old', 'private.key', 'a.db',
  ])('%s is undecided: its content tells', (name) => {
    expect(beginsHere(name, false, alone)).toBe(true)
    expect(isTypeDecidedByContent(name)).toBe(true)
    expect(whyLocal(name, alone, untold)).toBeUndefined()
  }) // prettier-ignore
})

describe('temporary names', () => {
  it.each([
    '#report.txt#', '.#report.txt', '.report.txt.swp', '.report.txt.swx', '.report.txt.un~', '.goutputstream-1A2B3C', '.~lock.report.ods#',
    '~$report.xlsx', '.report.txt.kate-swp', '._photo.png', '.DS_Store', 'Thumbs.db', 'desktop.ini', '.directory',
  ])('%s is no document, ever', (name) => {
    expect(isOwnName(name)).toBe(true)
    expect(beginsHere(name, false, alone)).toBe(true)
    expect(whyLocal(name, alone, untold)).toBe('belongs to the program that made it')
  }) // prettier-ignore

  it.each(['sedAb12Cd', 'XXTLSvZh', 'tmpy8g_pan0', 'tmpaiannkks.csv', 'report.pdf'])(
    '%s begins here when mkstemp made it',
    (name) => {
      expect(isMadeAsTemporary({ exclusive: true, mode: 0o600, readWrite: true })).toBe(true)
      expect([true, false].map((isTemporary) => beginsHere(name, isTemporary, alone))).toEqual([true, false])
    },
  )

  it('a backup is one beside its document', () => {
    expect(beginsHere('f~', false, beside('f'))).toBe(true)
    expect(whyLocal('report.txt~', beside('report.txt'), untold)).toBe('a backup of report.txt')
    expect(whyLocal('report.txt~', alone, untold)).toBeUndefined()
  })

  it.each([
    ['k.csv.NqVwYS', 'k.csv'],
    ['photo.jpg_exiftool_tmp', 'photo.jpg'],
    ['r.pdf.~qpdf-temp#', 'r.pdf'],
    ['d.json___jb_tmp___', 'd.json'],
    ['c.json.tmp-5691071988daf56b', 'c.json'],
    ['w.json.2837462837', 'w.json'],
    ['g.pdf8073021573', 'g.pdf'],
    ['.xdp-x.csv.qevt0M-LaMRTv', 'x.csv'],
    ['.in.ft.pdf.', 'ft.pdf'],
    ['~syncthing~a b.csv.tmp', 'a b.csv'],
    ['README.oXa3b9Z', 'README'],
    ['.README.Xa3b9Z', 'README'],
    ['contract.signed.tmp', 'contract.signed'],
  ])('%s is named after %s', (name, document) => {
    expect(namedAfter(name, beside(document, 'a', 'tmp'))).toBe(document)
    expect(namedAfter(name, alone)).toBeUndefined()
  })

  it.each([
    ['report.pdf', 'report.pdf'],
    ['report.pdfx', 'report.pdf'],
    ['myreport.pdf.tmp', 'report.pdf'],
    ['planet.tmp', 'plan'],
    ['a.tmp', 'tmp'],
  ])('%s is not named after %s', (name, document) => {
    expect(namedAfter(name, beside(document))).toBeUndefined()
  })

  it('half a save beside its document stays, and so does a temporary file that was cut off', () => {
    const why = 'its program has not finished it'
    const cutOff = { isMadeTemporary: false, isCutOff: true }
    const made = { isMadeTemporary: true, isCutOff: false }
    for (const traces of [cutOff, made]) {
      expect(whyLocal('photo.jpg_tmp', beside('photo.jpg'), traces)).toBe(why)
      expect(whyLocal('photo.jpg_tmp', alone, traces)).toBeUndefined()
    }
    expect(whyLocal('photo.jpg_tmp', beside('photo.jpg'), untold)).toBeUndefined()
    expect(whyLocal('.report.pdf.Xy12Zw', alone, { isMadeTemporary: true, isCutOff: true })).toBe(why)
  })

  it('a document may go to any name that tells no type to make room', () => {
    const names = [
      'f~',
      'a.txt~',
      '7F2E8D41.tmp',
      'd.json___jb_old___',
      '7F2E8D41',
      'a.pdf',
      'a.txt.bak',
      'README.bak',
    ]
    expect(names.filter(isBackupName)).toEqual(names.slice(0, 5))
  })

  it('say what the document is', () => {
    expect(['.a.docx.Xy12Zw', 'a.docx.part'].map(finalName)).toEqual(['a.docx', 'a.docx'])
  })

  it('trash folders are known by name', () => {
    expect(['.Trash', '.Trash-1000', '.Trashes'].every(isTrashName)).toBe(true)
    expect(isTrashName('Trash')).toBe(false)
  })
})
