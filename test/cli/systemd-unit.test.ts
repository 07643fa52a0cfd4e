// The unit's text. Its run by systemd: test/mount/systemd.thorough.test.ts.

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { unitName, unitText } from '../../src/cli/systemd-unit.ts'

const parts = {
  project: 'acme',
  mountpoint: '/home/ann/acme',
  program: ['/usr/bin/node', '/opt/docmount/main.js'],
  mountOptions: [],
  configFile: undefined,
} as const

test('it starts at login, again after every failure, and sends what is left when it stops', () => {
  const lines = unitText(parts).split('\n')
  expect(lines).toContain(
    'ExecStart=/usr/bin/node /opt/docmount/main.js mount acme /home/ann/acme --foreground',
  )
  expect(lines).toEqual(
    expect.arrayContaining(['StartLimitIntervalSec=0', 'Restart=on-failure', 'RestartSec=5']),
  )
})

test("the package's unit does the same", async () => {
  const file = new URL('../../scripts/debian/docmount@.service', import.meta.url)
  // Beside what it runs: a package that is removed takes the unit with it.
  const isOfBoth = (line: string): boolean =>
    line !== '' && !/^(#|Description=|ConditionPathExists=|ExecStart=)/.test(line)
  const linesOf = (text: string): string[] => text.split('\n').filter(isOfBoth)
  expect(linesOf(await readFile(file, 'utf8'))).toEqual(linesOf(unitText(parts)))
})

test('a drive at the usual place is left to find it', () => {
  expect(unitText({ ...parts, mountpoint: undefined })).toContain(' mount acme --foreground\n')
})

test('blanks, percent signs, dollars and quotes stay what they are', () => {
  const odd = { ...parts, project: 'a b', mountpoint: '/home/ann/100% $HOME "x"' }
  expect(unitText(odd)).toContain('mount "a b" "/home/ann/100%% $$HOME \\"x\\"" --foreground')
})

test('a unit is named as systemd-escape names it', () => {
  expect(unitName('acme')).toBe('docmount-acme.service')
  expect(unitName('a b/ü-1')).toBe('docmount-a\\x20b-\\xc3\\xbc\\x2d1.service')
})
