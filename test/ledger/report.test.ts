// Reports of drives, replayed: what showed is what the rows say. DOCMOUNT_REPORT names the file of one more, from `docmount report`.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

import { differencesIn, parseReport, type FolderRows, type Item } from '../../src/ledger/report.ts'

const file = process.env['DOCMOUNT_REPORT']

it.runIf(file !== undefined)(`shows what the rows in ${file} say`, () => {
  const { folders } = parseReport(readFileSync(file ?? '', 'utf8')) as { folders: readonly FolderRows[] }
  expect(folders.flatMap(differencesIn)).toEqual([])
})

const told: Item = { kind: 'file', isTold: true, size: 7, modifiedAt: '2026-01-01T00:00:01Z' }
const ours: Item = {
  kind: 'file',
  isTold: false,
  size: undefined,
  modifiedAt: undefined,
  ino: 5,
  spool: 'ours',
}
const open = { agreedAt: undefined, until: Infinity, highest: undefined }

function folder(row: Partial<FolderRows['names'][number]>): FolderRows {
  const names = [{ name: 'a', listed: told, placed: undefined, synced: undefined, shows: told, ...row }]
  return { path: '/d', listedAt: 10, names }
}

it('a name that shows what its rows say makes no difference', () => {
  for (const row of [
    {},
    { placed: { shows: ours, isAtOwnPath: false }, synced: open, shows: ours },
    { synced: open, shows: undefined },
    { shows: { ...told, ino: 9, size: undefined } },
  ])
    expect(differencesIn(folder(row))).toEqual([])
})

it('a name that shows something else is told, with its rows', () => {
  const placed = { shows: ours, isAtOwnPath: false }
  expect(differencesIn(folder({ placed, synced: open }))).toEqual([
    '/d/a shows 7@2026-01-01T00:00:01Z, and should show ours (no version): listed at 10 is 7@2026-01-01T00:00:01Z, ' +
      'here is ours (no version), known is {"until":null}',
  ])
  for (const shows of [undefined, { ...told, size: 8 }, { ...told, kind: 'folder' as const }, ours])
    expect(differencesIn(folder({ shows }))).toHaveLength(1)
})

it('a report is the same after its way through JSON', () => {
  const rows = folder({ placed: { shows: ours, isAtOwnPath: true }, synced: open, shows: ours })
  expect(differencesIn(rows)).toEqual([])
  const parsed = parseReport(JSON.stringify(rows)) as FolderRows
  expect(parsed.names[0]?.synced?.until).toBe(Infinity)
  expect(differencesIn(parsed)).toEqual([])
})
