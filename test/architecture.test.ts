// Statements of docs/architecture.md about the code are true of it.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
/** Text by path under src/. */
const sources = new Map(
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, readFileSync(join(root, 'src', file), 'utf8')]),
)

const layerOf = (file: string): string => file.split('/')[0] ?? ''

interface Import {
  readonly from: string
  readonly to: string
}

/** Imports under src/, types and what is loaded later included. */
const imports: readonly Import[] = [...sources].flatMap(([from, text]) =>
  [...text.matchAll(/(?:\bfrom |\bimport\(|^import )'(\.[^']*)'/gm)].map(([, to = '']) => ({
    from,
    to: join(dirname(from), to),
  })),
)

/** Packages by layer, as the block under "Layers" tells: the last column, which may go on in the next line. */
function toldHomes(): Map<string, string[]> {
  const [, block = ''] = /## Layers\n\n```text\n([^`]*)```/.exec(architecture) ?? []
  const homes = new Map<string, string[]>()
  let layer = ''
  for (const line of block.split('\n')) {
    const columns = line.trim().split(/ {2,}/)
    const isNew = columns[0]?.endsWith('/') === true
    if (isNew) layer = columns[0]?.slice(0, -1) ?? ''
    const told = isNew ? (columns[2] ?? '') : line
    const packages = told.split(',').map((each) => each.trim())
    homes.set(layer, [...(homes.get(layer) ?? []), ...packages.filter((each) => each !== '')])
  }
  return homes
}

/** The packages a text imports, also when it needs them. */
function packagesIn(text: string): string[] {
  const names = [...text.matchAll(/(?:\bfrom |\bimport\(|\.url\)\()'([^'./][^':]*)'/g)].map(
    ([, name]) => name ?? '',
  )
  return names
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    .filter((name) => existsSync(join(root, 'node_modules', name)) || name === 'fuse-native')
}

it('each outside package has the homes that are told, and no other', () => {
  const homes = new Map<string, Set<string>>()
  for (const [file, text] of sources)
    for (const name of packagesIn(text))
      homes.set(layerOf(file), (homes.get(layerOf(file)) ?? new Set()).add(name))
  const told = [...toldHomes()].filter(([, packages]) => packages.length > 0)
  expect(new Map([...homes].map(([layer, names]) => [layer, [...names].sort()]))).toEqual(
    new Map(told.map(([layer, names]) => [layer, names.toSorted()])),
  )
})

it('the leaves are those that are told, and import nothing of ours but one another', () => {
  const [, told = ''] = /^(These files are leaves\.[^]*?)\n\n/m.exec(architecture) ?? []
  const files = [...told.matchAll(/`(?:src\/)?([\w-]+\.ts)`/g)].map(([, name]) => name ?? '')
  const folders = [...told.matchAll(/`([\w-]+\/)`/g)].map(([, name]) => name ?? '')
  const isLeaf = (file: string): boolean =>
    files.includes(file) || folders.some((folder) => file.startsWith(folder))
  const inSrc = [...sources.keys()].filter((file) => !file.includes('/') && file !== 'index.ts')
  expect(files.toSorted()).toEqual(inSrc.sort())
  expect(folders).not.toEqual([])
  expect(imports.filter(({ from, to }) => isLeaf(from) && !isLeaf(to))).toEqual([])
})

it('imports between layers go downwards, and only cli/ knows service/', () => {
  const layers = [...toldHomes().keys()]
  const main = layers.slice(0, layers.indexOf('world'))
  expect(main).toContain('api')
  const rank = (file: string): number => main.indexOf(layerOf(file))
  const upwards = imports.filter(({ from, to }) => rank(from) > rank(to) && rank(to) >= 0)
  expect(upwards).toEqual([])
  const knowing = imports.filter(({ to }) => layerOf(to) === 'service').map(({ from }) => layerOf(from))
  expect([...new Set(knowing)].sort()).toEqual(['cli', 'service'])
})

it('rows/ is for those that are told', () => {
  const [, told = ''] = /^rows\/.*, for (.*?) {2,}/m.exec(architecture) ?? []
  const users = [...sources].filter(([, text]) => /from '(?:\.\.\/)+rows\//.test(text))
  expect([...new Set(users.map(([file]) => layerOf(file)))].sort()).toEqual(
    [...told.matchAll(/([\w-]+)\//g)].map(([, name]) => name ?? '').sort(),
  )
})

it('of a drive, only the committer changes documents in the service, sharing locks those of locks, and rmdir a folder', () => {
  const changing = [...sources].filter(
    ([file, text]) =>
      ['content', 'fs'].includes(layerOf(file)) && /(?<!#)\bfiles\.(?:upload|replace|delete)\(/.test(text),
  )
  expect(changing.map(([file]) => file).sort()).toEqual([
    'content/commit/removal.ts',
    'content/commit/store-at.ts',
    'content/commit/uploads.ts',
    'content/remote-delete.ts',
    'fs/locks/stored-locks.ts',
  ])
  const removing = [...sources].filter(([, text]) => /await deleteLooking\(/.test(text))
  expect(removing.map(([file]) => file).sort()).toEqual(['cli/delete-if-unchanged.ts', 'fs/calls/rmdir.ts'])
})

it('what it names beside a file is in that file', () => {
  const parts = [...architecture.matchAll(/`([\w./-]+\.ts)` \(((?:`\w+`(?:, )?)+)/g)]
  const missing = parts.flatMap(([, path = '', names = '']) => {
    const text = sources.get(path) ?? ''
    return [...names.matchAll(/`(\w+)`/g)]
      .filter(([, name = '']) => !text.includes(name))
      .map(([, name]) => `${path}: ${name}`)
  })
  expect(parts).not.toEqual([])
  expect(missing).toEqual([])
})

it('every room says what lives there, and every file what it is', () => {
  for (const centre of ['fs', 'content']) {
    const readme = readFileSync(join(root, 'src', centre, 'README.md'), 'utf8')
    const rooms = [...sources.keys()].map((file) => new RegExp(`^${centre}/([\\w-]+)/`).exec(file)?.[1])
    const told = [...readme.matchAll(/^\| \[([\w-]+)\/\]/gm)].map(([, room]) => room)
    expect(new Set(told)).toEqual(new Set(rooms.filter((room) => room !== undefined)))
  }
  const silent = [...sources].filter(([, text]) => !/^(?:#!.*\n)?\/\/ \S/.test(text))
  expect(silent.map(([file]) => file)).toEqual([])
})

it('what is exported is used elsewhere', () => {
  const users = ['test', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.m?[jt]s$/.test(file))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
  const words = [...sources].map(([file, text]) => [file, new Set(text.match(/\w+/g))] as const)
  const usersWords = new Set(users.flatMap((text) => text.match(/\w+/g) ?? []))
  const unused = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)]
      .map(([, name = '']) => name)
      .filter(
        (name) => !usersWords.has(name) && !words.some(([other, set]) => other !== file && set.has(name)),
      )
      .map((name) => `${file}: ${name}`),
  )
  expect(unused).toEqual([])
})

it('every file it names is there', () => {
  const named = [...architecture.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path]) => path ?? '')
  const isThere = (path: string): boolean => sources.has(path) || existsSync(join(root, path))
  expect(named.filter((path) => !isThere(path))).toEqual([])
})

/** Lines `one ──► other, another` of a block, by their first word. */
function arrowsIn(block: string): Map<string, string[]> {
  const arrows = [...block.matchAll(/([\w-]+) +──► ([\w, -]+)$/gm)]
  return new Map(
    arrows.map(([, from = '', to = '']) => [
      from,
      to === 'none' ? [] : to.split(',').map((each) => each.trim()),
    ]),
  )
}

const centres = ['fs', 'content'] as const

/** Imports that each room may have of its own centre, as the block under "Rooms" draws it. */
function drawnArrows(centre: (typeof centres)[number]): Map<string, string[]> {
  const [, block = ''] = /## Rooms\n[^]*?```text\n([^`]*)```/.exec(architecture) ?? []
  const [ofFs = '', ofContent = ''] = block.split(/^content\//m)
  return arrowsIn(centre === 'fs' ? ofFs : ofContent)
}

/** Imports that each room of `fs/` may have of `content/`: the table of what crosses the middle. */
function drawnCrossings(): Map<string, string[]> {
  const [, table = ''] = /\| room \| imports \| for \|\n\|[-|]+\n((?:\|.*\n)+)/.exec(architecture) ?? []
  const rows = [...table.matchAll(/^\| ([\w-]+) \| ([\w, -]+) \|/gm)]
  return new Map(rows.map(([, room = '', to = '']) => [room, to.split(',').map((each) => each.trim())]))
}

/** The room of this centre, of a file in one. */
function roomOf(centre: string, file: string): string | undefined {
  const [layer, room, ...rest] = file.split('/')
  return layer === centre && rest.length > 0 ? room : undefined
}

function foundArrows(from: string, to: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const each of imports) {
    const [room, other] = [roomOf(from, each.from), roomOf(to, each.to)]
    if (room === undefined || other === undefined || (from === to && room === other)) continue
    found.set(room, (found.get(room) ?? new Set()).add(other))
  }
  return found
}

const inOrder = (arrows: ReadonlyMap<string, Iterable<string>>): Record<string, string[]> =>
  Object.fromEntries(
    [...arrows]
      .map(([from, to]) => [from, [...to].sort()] as const)
      .filter(([, to]) => to.length > 0)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

it.each(centres)('the rooms of %s/ import those that are drawn, and no other', (centre) => {
  expect(inOrder(foundArrows(centre, centre))).toEqual(inOrder(drawnArrows(centre)))
  const rooms = [...sources.keys()].map((file) => roomOf(centre, file)).filter((room) => room !== undefined)
  expect([...drawnArrows(centre).keys()].sort()).toEqual([...new Set(rooms)].sort())
})

it('what crosses the middle is told, and only downwards', () => {
  expect(inOrder(foundArrows('fs', 'content'))).toEqual(inOrder(drawnCrossings()))
  expect(imports.filter(({ from, to }) => layerOf(from) === 'content' && layerOf(to) === 'fs')).toEqual([])
})

it('the queue says the events that are drawn', () => {
  const [, drawn = ''] = /one event: ([\w, ]+)/.exec(architecture) ?? []
  const kinds = (sources.get('content/commit/queue-event.ts') ?? '').matchAll(/readonly kind: '(\w+)'/g)
  expect(drawn.split(', ')).toEqual([...kinds].map(([, kind]) => kind))
})

interface LintOverride {
  readonly files: readonly string[]
  readonly rules: Record<string, unknown>
}

const lintConfig = JSON.parse(readFileSync(join(root, '.oxlintrc.json'), 'utf8')) as {
  readonly overrides: readonly LintOverride[]
}

it('the files that go past the world to the disk are those that are told, and the linter lets no others', () => {
  const [, told = ''] = /^(- Files of `content\/spool` [^]*?)\n- /m.exec(architecture) ?? []
  const named = [...told.matchAll(/`([\w-]+)`/g)].map(([, name]) => `content/spool/${name}.ts`)
  const using = [...sources]
    .filter(([file]) => ['api', 'content', 'fs', 'tables-drive'].includes(layerOf(file)))
    .filter(([, text]) => /from 'node:fs(?:\/promises)?'/.test(text))
    .map(([file]) => file)
  expect(named).toEqual(using.sort())
  const letBy = lintConfig.overrides.map(({ files }) => files).find(([file]) => file === `src/${named[0]}`)
  expect(letBy).toEqual(named.map((file) => `src/${file}`))
})

/** Files, with one import each, that the linter refuses. */
function refusedImports(files: ReadonlyMap<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'docmount-lint-'))
  try {
    const rules = lintConfig.overrides.filter((each) => 'no-restricted-imports' in each.rules)
    writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify({ overrides: rules }))
    for (const [file, imported] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), `export type { a } from '${imported}'\n`)
    }
    const oxlint = join(root, 'node_modules/.bin/oxlint')
    const { stdout } = spawnSync(oxlint, ['-f', 'json', '.'], { cwd: folder, encoding: 'utf8' })
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] }
    return diagnostics
      .filter(({ code }) => code.includes('no-restricted-imports'))
      .map((each) => each.filename)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it('the linter refuses what is not drawn, at each depth of a room, and nothing that is drawn', () => {
  const depths = ['', 'deep/', 'deep/er/']
  const files = new Map<string, string>()
  const refused: string[] = []
  const add = (file: string, imported: string, isRefused: boolean): void => {
    const path = relative(dirname(file), imported)
    files.set(file, path.startsWith('.') ? path : `./${path}`)
    if (isRefused) refused.push(file)
  }
  for (const centre of centres) {
    const drawn = drawnArrows(centre)
    for (const [room, below] of drawn)
      for (const other of drawn.keys())
        if (other !== room)
          for (const depth of depths)
            add(
              `src/${centre}/${room}/${depth}to-${other}.ts`,
              `src/${centre}/${other}/${depth}x.ts`,
              !below.includes(other),
            )
  }
  const layers = ['cli', 'ui', 'daemon', 'fuse', 'webdav', 'tables-drive', 'fs', 'content', 'api']
  for (const [at, layer] of layers.entries())
    for (const above of layers.slice(0, at))
      for (const depth of depths)
        add(`src/${layer}/${depth}to-${above}.ts`, `src/${above}/${depth}x.ts`, true)
  for (const room of drawnArrows('content').keys()) {
    add(`src/content/${room}/to-fs.ts`, 'src/fs/tree/x.ts', true)
    add(`src/content/to-${room}.ts`, `src/content/${room}/x.ts`, true)
  }
  for (const layer of [...layers, 'service', 'rows']) {
    add(`src/leaf-to-${layer}.ts`, `src/${layer}/x.ts`, true)
    add(`src/world/to-${layer}.ts`, `src/${layer}/x.ts`, true)
    add(`src/${layer}/to-leaf.ts`, 'src/log.ts', false)
  }
  add('src/leaf-to-leaf.ts', 'src/log.ts', false)
  add('src/index.ts', 'src/fs/x.ts', false)
  expect(refusedImports(files).sort()).toEqual(refused.sort())
})

it('settled is said of what the service has agreed to, and of nothing else', () => {
  expect(architecture).toContain('A change is settled when the service has agreed to it.')
  const saying = [...sources].filter(([, text]) => /\b(?:un)?settle/i.test(text.replaceAll('allSettled', '')))
  expect(
    saying.map(([file]) => file).filter((file) => !/^fs\/(?:calls|control|tree|unsent)\//.test(file)),
  ).toEqual([])
})
