// Which files begin their life on this machine only: programs' temporaries, made as programs make them, and nothing else.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import {
  finalName,
  isBackupName,
  isHiddenName,
  isLocalName,
  isMadeLocal,
  isTrashName,
  patchedName,
  typedName,
  whyLocal,
  type Making,
} from '../../../src/fs/tree/scratch.ts'

const alone = (): boolean => false
const beside =
  (...names: string[]) =>
  (name: string): boolean =>
    names.includes(name)

/** As ordinary programs make files: a shell, cp, cp -p, an editor, a program that wants a new file, one with umask 077. */
const ordinaryMakings = [
  { exclusive: false, mode: 0o644, readWrite: false },
  { exclusive: true, mode: 0o644, readWrite: false },
  { exclusive: true, mode: 0o600, readWrite: false },
  { exclusive: false, mode: 0o644, readWrite: true },
  { exclusive: true, mode: 0o664, readWrite: true },
  { exclusive: false, mode: 0o600, readWrite: true },
] satisfies Omit<Making, 'isBeside'>[]
const byShell = { ...ordinaryMakings[0]!, isBeside: alone }
const byMkstemp = { exclusive: true, mode: 0o600, readWrite: true, isBeside: alone }

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

  it('a hundred thousand of them are documents, however they are made', () => {
    expect(names.size).toBeGreaterThan(100_000)
    expect(names).toContain('sediments')
    // All in one folder.
    const isBeside = (name: string): boolean => names.has(name)
    for (const making of ordinaryMakings)
      expect([...names].filter((name) => isMadeLocal(name, { ...making, isBeside }))).toEqual([])
  })

  it('documents that get them are documents, and no backups', () => {
    expect(
      [...names].filter((name) => isBackupName(name) || isHiddenName(name) || isLocalName(name)),
    ).toEqual([])
  })

  it.each([
    'sediments',
    'sedatives',
    'sed-01.txt',
    '4913',
    'a~b.txt',
    '.notes.config',
    '~WRITERS',
    'meeting-journal',
  ])('%s is a document', (name) =>
    expect(isMadeLocal(name, { ...byShell, isBeside: () => true })).toBe(false),
  )
})

describe('temporary names', () => {
  it.each([
    '#report.txt#', '.#report.txt', '.report.txt.swp', '.report.txt.swx', '.report.txt.un~', '.goutputstream-1A2B3C', '.~lock.report.ods#',
    'lu12345abcde.tmp', 'x.osl-tmp', 'film.mp4.part', 'a.crdownload', 'a.tmp', '~$report.xlsx', '~WRD0001.tmp', '.report.txt.kate-swp',
    '._photo.png', '.DS_Store', 'Thumbs.db', 'desktop.ini', '.directory', '.com.google.Chrome.aB3dE6',
  ])('%s begins here', (name) => {
    expect(isMadeLocal(name, byShell)).toBe(true)
  }) // prettier-ignore

  it.each(['sedAb12Cd', 'sedatives', 'XXTLSvZh', '.report.pdf.backup', '.report.Xy12Zw'])(
    '%s begins here when mkstemp made it',
    (name) => {
      expect(isMadeLocal(name, byMkstemp)).toBe(true)
      for (const making of ordinaryMakings)
        expect(isMadeLocal(name, { ...making, isBeside: alone })).toBe(false)
    },
  )

  it.each([
    ['report.txt~', 'report.txt'],
    ['data.sqlite-journal', 'data.sqlite'],
    ['data.db-wal', 'data.db'],
  ])('%s begins here beside %s only', (name, document) => {
    expect(isMadeLocal(name, { ...byShell, isBeside: beside(document) })).toBe(true)
    expect(isMadeLocal(name, byShell)).toBe(false)
  })

  it('what patch makes begins here, whatever letters chance gives it', () => {
    const byPatch = { exclusive: true, mode: 0o644, readWrite: false, isBeside: beside('README', 'plan') }
    for (const name of ['a.txt.o9F3q0I', 'a.txt.rU64VHf', 'a.txt.oabcdef', 'a.txt.r123456', 'README.oXa3b9Z'])
      expect(isMadeLocal(name, byPatch), name).toBe(true)
    for (const name of ['a.txt.oXa3b9Z', 'README.oXa3b9Z'])
      expect(isMadeLocal(name, { ...byPatch, exclusive: false }), name).toBe(false)
    for (const name of ['a.docx.oXa3b9Z', 'NOTES.oXa3b9Z', 'plan.revised', 'plan.rev2024'])
      expect(isMadeLocal(name, byPatch), name).toBe(false)
  })

  it('left alone, some are documents and some are told of', () => {
    for (const name of ['a.tmp', 'film.mp4.part', 'report.txt~', 'sedAb12Cd', 'lu1234.tmp', 'a.txt.revised'])
      expect(whyLocal(name, alone), name).toBeUndefined()
    expect(whyLocal('.report.txt.swp', alone)).toBe('belongs to the program that made it')
    expect(whyLocal('.report.pdf.Xy12Zw', alone)).toBe('its program has not finished it')
    for (const name of ['a.txt.oXa3b9Z', 'README.rXa3b9Z'])
      expect(whyLocal(name, alone), name).toBe('its program has not finished it')
    expect(whyLocal('report.txt~', beside('report.txt'))).toBe('a backup of report.txt')
  })

  it('say what the document is', () => {
    expect(['a.pdf~', 'a.pdf.part', 'a.pdf.tmp~', 'a.pdf', '~'].map(typedName)).toEqual([
      'a.pdf', 'a.pdf', 'a.pdf', 'a.pdf', '~',
    ]) // prettier-ignore
    expect(['a.pdf.oXa3b9Z', 'a.pdf.revised', 'a.docx.oXa3b9Z', 'plan.revised'].map(patchedName)).toEqual([
      'a.pdf', 'a.pdf', undefined, undefined,
    ]) // prettier-ignore
    expect(['.a.docx.Xy12Zw', 'a.docx.part', 'a.docx.tmp', 'a.docx'].map(finalName)).toEqual([
      'a.docx', 'a.docx', undefined, undefined,
    ]) // prettier-ignore
  })

  it('trash folders are known by name', () => {
    expect(['.Trash', '.Trash-1000', '.Trashes'].every(isTrashName)).toBe(true)
    expect(isTrashName('Trash')).toBe(false)
  })
})
