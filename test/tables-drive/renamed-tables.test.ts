// Tables that get other names in the service keep their folders.

import { afterEach, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { ForwardedContents } from '../../src/tables-drive/forwarded-contents.ts'
import { TableFolders } from '../../src/tables-drive/table-folders.ts'
import { VirtualNodes } from '../../src/tables-drive/virtual-node.ts'
import { realWorld } from '../../src/world/world.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let service: TestService
let temporary: TemporaryFolder
afterEach(async () => {
  await service.close()
  await temporary.remove()
})

test('two that swap their names swap their folders, with all that is in them', async () => {
  ;[service, temporary] = [await startTestService(), await makeTemporaryFolder()]
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  const tables = client.tables(service.project)
  for (const name of ['a', 'b']) await tables.create({ name, settings: { type: 'reconcile' } })
  // The interface leaves open how a service renames a table: here its list tells other names from now on.
  const names = new Map([
    ['a', 'a'],
    ['b', 'b'],
  ])
  const list = async (): ReturnType<typeof tables.list> =>
    (await tables.list({})).map((table) => ({ ...table, name: names.get(table.name ?? '') ?? '' }))
  const { clock, disk } = realWorld()
  const nodes = new VirtualNodes(1000, { uid: 0, gid: 0 })
  const root = nodes.add({ kind: 'folder', name: '.tables', parent: undefined, mode: 0o555, mtimeMs: 0 })
  const folders = new TableFolders({
    tables: { ...tables, list },
    nodes,
    root,
    ttlMs: 60_000,
    clock,
    signal: new AbortController().signal,
    contents: new ForwardedContents(disk, temporary.path),
    onRun: () => {},
  })
  const { signal } = new AbortController()
  await root.refreshChildren?.(signal)
  const before = [root.children.get('a'), root.children.get('b')]
  for (const next of ['c', 'b']) {
    names.set('a', 'b')
    names.set('b', next === 'b' ? 'a' : next)
    folders.forget()
    await root.refreshChildren?.(signal)
    expect([root.children.get('b'), root.children.get(names.get('b') ?? '')]).toEqual(before)
    for (const folder of root.children.values()) {
      expect([...folder.children.keys()]).toEqual(['table.json', 'schema.json', 'forward', 'reconcile'])
      expect(nodes.getFolder(folder.ino)).toBe(folder)
    }
  }
  await client.close()
})
