// Every number of the protocol files against the C header of this machine, where there is one.

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import * as flags from '../../src/fuse/kernel/protocol-flags.ts'
import { notifyCode, opcode } from '../../src/fuse/kernel/protocol-opcodes.ts'
import * as structs from '../../src/fuse/kernel/protocol-structs.ts'

const file = '/usr/include/linux/fuse.h'
const header = existsSync(file) ? readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '') : ''

const scalarBytes: Record<string, number> = {
  uint64_t: 8,
  int64_t: 8,
  uint32_t: 4,
  int32_t: 4,
  uint16_t: 2,
  char: 1,
}

type Layout = Record<string, number>

/** The C rules for these structures: natural alignment, which the header keeps by explicit padding. */
function layoutsOf(text: string): Map<string, Layout> {
  const layouts = new Map<string, Layout>()
  for (const [, name = '', body = ''] of text.matchAll(/struct fuse_(\w+) \{([^}]*)\}/g)) {
    const layout: Layout = {}
    let at = 0
    for (const [, struct, scalar, field = '', , count] of body.matchAll(
      /(?:struct\s+fuse_(\w+)|(\w+))\s+(\w+)(\[(\d*)\])?;/g,
    )) {
      const inner = struct === undefined ? undefined : layouts.get(camel(struct))
      const bytes = inner?.['sizeOf'] ?? scalarBytes[scalar ?? ''] ?? Number.NaN
      const alignment = inner === undefined ? bytes : 8
      at = Math.ceil(at / alignment) * alignment
      layout[camel(field)] = at
      at += bytes * (count === undefined ? 1 : Number(count))
    }
    layout['sizeOf'] = at
    layouts.set(camel(name), layout)
  }
  return layouts
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** `#define FUSE_X (1 << 3)` and enum members by name without `FUSE_`. */
function constantsOf(text: string): Map<string, number> {
  const constants = new Map<string, number>()
  for (const [, name = '', shift] of text.matchAll(/#define\s+FUSE_(\w+)\s+\(1 << (\d+)\)/g)) {
    constants.set(name, 2 ** Number(shift))
  }
  for (const [, name = '', value] of text.matchAll(/^\s*FUSE_(\w+)\s*=\s*(\d+),/gm)) {
    constants.set(name, Number(value))
  }
  return constants
}

/** doReaddirplus → DO_READDIRPLUS; rename2 stays RENAME2. */
function screaming(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

const layouts = layoutsOf(header)
const constants = constantsOf(header)
const why = header === '' ? `${file} is not installed (linux-libc-dev)` : undefined

describe.skipIf(why !== undefined)(`the protocol files agree with ${file}`, () => {
  const known = Object.entries(structs).filter(([name]) => layouts.has(name))

  test('most structures are known to the header', () => {
    // Its version decides which: 7.38 has all but what came later.
    expect(known.length).toBeGreaterThanOrEqual(Object.keys(structs).length - 2)
  })

  test.each(known)('struct %s', (name, struct) => {
    expect(layouts.get(name)).toMatchObject(struct)
  })

  test('opcodes', () => {
    const compared = Object.entries(opcode).filter(([name]) => constants.has(screaming(name)))
    expect(compared.length).toBeGreaterThanOrEqual(44)
    for (const [name, value] of compared)
      expect([name, value]).toEqual([name, constants.get(screaming(name))])
  })

  test('notification codes', () => {
    const compared = Object.entries(notifyCode).filter(([name]) => constants.has(`NOTIFY_${screaming(name)}`))
    expect(compared.length).toBeGreaterThanOrEqual(2)
    for (const [name, value] of compared)
      expect([name, value]).toEqual([name, constants.get(`NOTIFY_${screaming(name)}`)])
  })

  test.each([
    ['init flags', flags.initFlag, ''],
    ['open flags', flags.openFlag, 'FOPEN_'],
    ['getattr flags', flags.getattrFlag, 'GETATTR_'],
    ['setattr fields', flags.setattrValid, 'FATTR_'],
  ])('%s', (_, group, prefix) => {
    const defines = header.matchAll(/#define\s+(\w+)\s+\(1 << (\d+)\)/g)
    const values = new Map([...defines].map(([, name, shift]) => [name, 2 ** Number(shift)]))
    for (const [name, value] of Object.entries(group)) {
      const spelled = screaming(name)
      const found = [`${prefix}${spelled}`, `FUSE_${prefix}${spelled}`].find((key) => values.has(key))
      expect([name, value]).toEqual([name, values.get(found)])
    }
  })
})
