// Links of the README, the docs and the notes of the source lead to files that exist, and to headings that exist in them.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = new URL('..', import.meta.url).pathname
const pages = ['.', 'docs', 'docs/decisions', 'src/content', 'src/fs'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
)

const textOf = (page: string): string =>
  readFileSync(join(root, page), 'utf8').replaceAll(/^```[^]*?^```$/gm, '')

/** Anchors as GitHub derives them from headings. */
const anchorsOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )

test.each(pages)('links of %s', (page) => {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const broken = links.filter((link) => {
    if (/^https?:/.test(link)) return false
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? page : join(dirname(page), file)
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !anchorsOf(target).includes(anchor)
  })
  expect(broken).toEqual([])
})

test('tests that docs/reliability.md names by a promise exist', () => {
  const cells = [...textOf('docs/reliability.md').matchAll(/^\| .* \| (`[^|]*`) \|$/gm)]
  const named = cells.flatMap(([, cell = '']) => cell.split('`').filter((_, index) => index % 2 === 1))
  expect(named.length).toBeGreaterThan(50)
  const exists = (name: string): boolean =>
    (name.startsWith('behaviour/') ? ['.ts'] : ['.test.ts', '.thorough.test.ts']).some((ending) =>
      existsSync(join(root, 'test', name + ending)),
    )
  expect(named.filter((name) => !exists(name))).toEqual([])
})
