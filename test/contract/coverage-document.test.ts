// Holds docs/interface-coverage.md to the code: what it names exists, and no endpoint is missing.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Contract, startContract } from './contract-setup.ts'

const root = new URL('../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/interface-coverage.md'), 'utf8')

interface Row {
  readonly section: string
  readonly cells: Readonly<Record<string, string>>
}

const rows: readonly Row[] = page.split(/^## /m).flatMap((text) => {
  const [section = ''] = text.split('\n', 1)
  const lines = text.split('\n').filter((line) => line.startsWith('| '))
  const [header = [], ...body] = lines.map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  return body.map((cells) => ({
    section,
    cells: Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])),
  }))
})
const tested = rows.filter(({ cells }) => cells['tests'] !== undefined)

const aliases: Readonly<Record<string, string>> = { openapi: 'service/openapi' }

/** The text of the test a reference names: a file, or all files of a folder. Undefined where there is none. */
function testText(reference: string): string | undefined {
  const path = join(root, 'test', aliases[reference] ?? reference)
  if (existsSync(`${path}.test.ts`)) return readFileSync(`${path}.test.ts`, 'utf8')
  if (!reference.endsWith('/') || !existsSync(path)) return undefined
  return readdirSync(path)
    .map((name) => readFileSync(join(path, name), 'utf8'))
    .join('\n')
}

function quoted(cell: string, mark: '`' | '"'): string[] {
  return cell.split(mark).filter((_, index) => index % 2 === 1)
}

let contract: Contract
beforeAll(async () => {
  contract = await startContract()
})
afterAll(() => contract.close())

describe('docs/interface-coverage.md', () => {
  test.each(
    tested.map(({ section, cells }) => [section, Object.values(cells)[1] ?? '', cells['tests'] ?? '']),
  )('%s: %s: its tests exist', (_section, _what, cell) => {
    const named = cell.split(' · ')
    expect(named.length).toBeGreaterThan(0)
    for (const reference of named) {
      const [file = ''] = quoted(reference, '`')
      const text = testText(file)
      expect(text, `${file} is no test`).toBeDefined()
      for (const title of quoted(reference, '"')) {
        for (const part of title.split('…')) expect(text, title).toContain(part.trim())
      }
    }
  })

  test('names source files that exist', () => {
    const folders: Readonly<Record<string, string>> = { client: 'src/api', service: 'src/service', where: '' }
    const missing = rows.flatMap(({ cells }) =>
      Object.entries(folders).flatMap(([column, folder]) =>
        quoted(cells[column] ?? '', '`')
          .filter((name) => /(\.ts|\/)$/.test(name))
          .filter((name) => !existsSync(join(root, name.startsWith('src/') ? '' : folder, name))),
      ),
    )
    expect(missing).toEqual([])
    expect(rows.length).toBeGreaterThan(60)
  })

  test('has a row for every endpoint the service describes', () => {
    const described = contract.witness.described
      .map((line) => line.slice(0, line.lastIndexOf(' ')).replace('/projects/{project_name}', '…'))
      .filter((endpoint) => !endpoint.includes('/download/'))
    const listed = new Set(
      rows
        .filter(({ section }) => section === 'Endpoints')
        .flatMap(({ cells }) => quoted(cells['endpoint'] ?? '', '`'))
        .map((endpoint) => endpoint.replace('?path=', '')),
    )
    expect(new Set(described).size).toBe(11)
    expect(described.filter((endpoint) => !listed.has(endpoint))).toEqual([])
  })
})
