// A node of the version before beside one of this: nodes are replaced one after the other, and nobody is refused meanwhile.

import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase } from '../../support/postgres.ts'
import { type ServeProcess, compileCommand, compileTo, serve } from '../compiled-command.ts'
import { documentOf } from '../support.ts'

const root = new URL('../../..', import.meta.url).pathname
const execute = promisify(execFile)
const git = async (...args: string[]): Promise<string> =>
  (await execute('git', ['-C', root, ...args])).stdout.trim()

/** The files that say what the tables are. */
const histories = ['store/migrations.ts', 'store/postgres/migrations.ts', 'tables/migrations.ts'].map(
  (name) => `src/service/${name}`,
)

/** The last commit with other tables than this work tree; undefined where its history is not here. */
async function commitBefore(): Promise<string | undefined> {
  try {
    if ((await git('diff', 'HEAD', '-G^  .[0-9]{4}_', '--name-only', '--', ...histories)) !== '')
      return await git('rev-parse', 'HEAD')
    const last = await git('log', '-1', '-G^  .[0-9]{4}_', '--format=%H', '--', ...histories)
    return await git('rev-parse', '--verify', `${last}~1`)
  } catch {
    return undefined
  }
}

const commit = await commitBefore()
let folder: string
const nodes: ServeProcess[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docmount-upgrade-'))
})
afterAll(async () => {
  for (const { process } of nodes) process.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

test.skipIf(commit === undefined)(
  'serves the same projects, before and after the other has brought the tables up to date',
  async () => {
    const old = join(folder, 'old')
    await execute('sh', [
      '-c',
      'mkdir "$1" && git -C "$2" archive "$3" | tar -x -C "$1"',
      'sh',
      old,
      root,
      commit!,
    ])
    await symlink(join(root, 'node_modules'), join(old, 'node_modules'))
    await compileTo(join(old, 'dist'), old)
    const now = await compileCommand()
    const { url } = await freshDatabase()
    const place = ['--database', url, '--data', join(folder, 'contents')]
    const start = async (main: string, ...args: string[]): Promise<ServeProcess> => {
      const node = await serve(main, {}, [...place, ...args])
      nodes.push(node)
      return node
    }
    const before = await start(join(old, 'dist/cli/main.js'), '--project', 'acme')
    const key = before.announcement.projects[0]!.api_key!
    const call = async (node: ServeProcess, method: string, path: string, body?: object): Promise<Response> =>
      fetch(`${node.announcement.base_url}/projects/acme${path}`, {
        method,
        headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const statusOf = async (...args: Parameters<typeof call>): Promise<number> => {
      const answer = await call(...args)
      await answer.arrayBuffer()
      return answer.status
    }
    /** One node changes, the other sees it. */
    const work = async (name: string, one: ServeProcess, other: ServeProcess): Promise<void> => {
      for (const size of [100, 100_000]) {
        const path = `/files?path=/${name}/${size}.txt`
        expect(await statusOf(one, 'PUT', path, documentOf(name.repeat(size)))).toBe(201)
        const { url: link } = (await (await call(other, 'GET', path)).json()) as { url: string }
        expect(await (await fetch(link)).text()).toBe(name.repeat(size))
      }
      const made = await call(one, 'POST', '/tables', { name, settings: { type: 'reconcile' } })
      const { id } = (await made.json()) as { id: string }
      const rows = { type: 'data', data: [{ asset_name: 'first', row_data: { nr: 'A-1' } }] }
      expect(await statusOf(one, 'POST', `/tables/${id}/forward`, rows)).toBe(201)
      const run = await call(other, 'POST', `/tables/${id}/reconcile`, { data: { nr: 'A-1' } })
      expect(await run.json()).toMatchObject({ status: 'done', data: { nr: 'A-1' } })
      expect(await statusOf(other, 'DELETE', `/files?path=/${name}/100.txt`)).toBe(204)
      expect(await statusOf(one, 'GET', `/files?path=/${name}/100.txt`)).toBe(404)
    }
    await work('alone', before, before)
    const after = await start(join(now.folder, 'dist/cli/main.js'))
    await work('old', before, after)
    await work('new', after, before)
    expect(await before.end('SIGTERM')).toBe(0)
    await work('last', after, after)
    const checked = await now.run('check', ...place, '--json')
    expect(JSON.parse(checked.stdout)).toMatchObject({ findings: [] })
    await now.remove()
  },
)
