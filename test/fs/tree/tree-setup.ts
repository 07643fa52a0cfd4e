// A tree with its real neighbours: the service in this process, a client, a journal and saved listings. The clock is
// the test's own, and what the door is told is written down.

import { realWorld } from '../../../src/world/world.ts'
import { createClient } from '../../../src/api/client.ts'
import { createClock, type Timers } from '../../../src/world/clock.ts'
import { WatchedFiles } from '../../../src/content/reach/watched-files.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { SavedListings } from '../../../src/content/spool/saved-listings.ts'
import { AttributeStore } from '../../../src/fs/tree/attribute-store.ts'
import { defaultMemoryBytes, sharesOf, type MemoryShares } from '../../../src/fs/tree/memory-shares.ts'
import { ListedNames } from '../../../src/fs/tree/listed-names.ts'
import { pathIn, type Node } from '../../../src/fs/tree/node.ts'
import { Tree } from '../../../src/fs/tree/tree.ts'
import { silentLog } from '../../../src/log.ts'
import { folderOf, nameOf } from '../../../src/path.ts'
import { project, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** One cache lifetime. */
export const ttlMs = 10_000

export interface TreeSetup {
  readonly tree: Tree
  readonly files: WatchedFiles
  readonly journal: Journal
  /** News that the door was told since the last look: `entry PATH`, `content PATH`. */
  told(): string[]
  /** Folders made here that turned out to be in the service. */
  readonly landed: string[]
  pass(ms: number): void
  /** Asks for a folder, whatever is cached, and answers the names it shows then. */
  list(path?: string): Promise<string[]>
  /** The names a folder shows by the listing that is known. */
  shown(path?: string): string[]
  /** The node that a name stands for by the listings that are known. */
  node(path: string): Node | undefined
  /** A document or folder made here, as the calls make it. */
  made(path: string, kind?: Node['kind']): Node
  /** The service has the node with this content, as the commit queue says it. */
  sent(node: Node, content: string): Promise<void>
  close(): Promise<void>
}

export interface TreeSettings {
  readonly memory?: MemoryShares
  readonly timers?: Timers
}

/** Empties the project first, and fills it; without `given`, what is there stays. */
export async function setUpTree(
  { service, other, baseUrl, apiKey }: TestService,
  given: Readonly<Record<string, string>> | undefined,
  { memory = sharesOf(defaultMemoryBytes), timers = createClock() }: TreeSettings = {},
): Promise<TreeSetup> {
  service.faults.clear()
  if (given !== undefined) {
    for (const { name } of (await other.get('/'))?.entries ?? []) await other.delete(`/${name}`)
    for (const [path, content] of Object.entries(given)) await other.put(path, content)
  }
  const temporary = await makeTemporaryFolder()
  const client = createClient({ baseUrl, apiKey })
  const files = new WatchedFiles(client.files(project), silentLog, realWorld())
  const journal = new Journal(temporary.path, realWorld())
  const saved = new SavedListings(temporary.path, silentLog, realWorld().clock)
  const attributes = new AttributeStore(journal)
  const landed: string[] = []
  let told: string[] = []
  let now = 1_000_000
  const tree = new Tree({
    files,
    reach: files.reach,
    ttlMs,
    timers,
    memory,
    now: () => now,
    wall: createClock().wall,
    log: silentLog,
    saved,
    afterCommit: (step) => journal.afterCommit(step),
    isOfFormerFolder: () => false,
    isToBeEmptied: () => false,
    foundHidden: () => {},
    applyAttributes: (node) => attributes.applyAttributes(node),
    overtaken() {},
    dropped() {},
    folderCreatedRemotely: (node) => void landed.push(node.path),
  })
  const pathOf = (ino: number): string => tree.nodes.find(ino)?.path ?? `${ino}`
  tree.notifier = {
    attributesChanged: (ino) => void told.push(`attributes ${pathOf(ino)}`),
    contentChanged: (ino) => void told.push(`content ${pathOf(ino)}`),
    entryChanging: () => () => {},
    entryChanged: (parent, name) => void told.push(`entry ${pathIn(tree.nodes.get(parent), name)}`),
    // As the kernel does where nobody uses them.
    async dropUnused(nodes) {
      for (const { ino } of nodes) tree.nodes.forget(ino, Infinity)
    },
    async heard() {},
  }
  const setup: TreeSetup = {
    tree,
    files,
    journal,
    landed,
    told() {
      const before = told
      told = []
      return before
    },
    pass: (ms) => void (now += ms),
    async list(path = '/') {
      const folder = setup.node(path)
      if (folder === undefined) throw new Error(`no ${path}`)
      now++
      return tree.names(folder, await tree.loadFresh(folder))
    },
    shown(path = '/') {
      const folder = setup.node(path)
      const listing = folder === undefined ? undefined : tree.listings.known(folder)
      if (folder === undefined || listing === undefined) throw new Error(`${path} is not listed`)
      return tree.names(folder, listing)
    },
    node(path) {
      if (path === '/') return tree.nodes.root
      const folder = setup.node(folderOf(path))
      if (folder === undefined) return undefined
      const listing = tree.listings.known(folder) ?? { names: new ListedNames(), requestedAt: 0 }
      return tree.child(folder, nameOf(path), listing)
    },
    made(path, kind = 'file') {
      const folder = setup.node(folderOf(path))
      if (folder === undefined) throw new Error(`no ${folderOf(path)}`)
      const node = tree.nodes.add(kind, folder, nameOf(path))
      node.folder?.makeHere()
      tree.places.attach(node, folder, nameOf(path))
      return node
    },
    async sent(node, content) {
      await other.put(node.path, content)
      const record = await files.get(node.path)
      if (record.kind !== 'file') throw new Error(`${node.path} is no document`)
      tree.versions.store(node, record, now)
      node.unsent.arrived()
      tree.places.settle(node)
    },
    async close() {
      files.close()
      tree.listings.close()
      saved.close()
      await client.close()
      journal.close()
      await temporary.remove()
    },
  }
  await setup.list()
  setup.told()
  return setup
}

/** A later millisecond: what is stored from now on is newer. */
export async function tick(): Promise<void> {
  const now = Date.now()
  await waitUntil('the clock', () => Date.now() > now)
}
