// The name under which a version nobody here had seen is kept.

import { describe, expect, it } from 'vitest'
import { conflictName } from '../../../src/content/commit/conflict.ts'

describe('conflict name', () => {
  it('tells their time and our machine, and keeps the extension', () => {
    expect(conflictName('report.pdf', '2026-11-20T20:45:10.123Z', 'desk')).toBe(
      'report (conflict 2026-11-20 20.45.10 desk).pdf',
    )
  })

  it('is the same for the same version, so that doing it twice makes one copy', () => {
    expect(conflictName('a.txt', '2026-01-02T03:04:05Z', 'h')).toBe(
      conflictName('a.txt', '2026-01-02T03:04:05Z', 'h'),
    )
  })

  it('works for names without an extension, hidden names, and versions without a time', () => {
    expect(conflictName('LICENSE', undefined, 'h')).toBe('LICENSE (conflict 1970-01-01 00.00.00 h)')
    expect(conflictName('.profile', undefined, 'h')).toBe('.profile (conflict 1970-01-01 00.00.00 h)')
  })

  it('stays within 255 bytes without cutting a letter in two', () => {
    const name = conflictName(`${'é'.repeat(125)}.txt`, '2026-01-02T03:04:05Z', 'h')
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(name).toMatch(/^é+ \(conflict 2026-01-02 03\.04\.05 h\)\.txt$/)
  })
})
