// Puts a filesystem together: the one place that knows all parts.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createReader } from '../content/read/block-reader.ts'
import { CommitQueue } from '../content/commit/commit-queue.ts'
import { Committer } from '../content/commit/committer.ts'
import { ErrnoError } from '../errno-error.ts'
import { WatchedFiles } from '../content/reach/watched-files.ts'
import { LostAndFound } from '../content/spool/lost-and-found.ts'
import { Journal } from '../content/spool/journal.ts'
import { PresignedUrls } from '../content/read/presigned-urls.ts'
import { SavedListings } from '../content/spool/saved-listings.ts'
import { Spool } from '../content/spool/spool.ts'
import { ConflictCopies } from './conflict-copies.ts'
import { createClock } from '../clock.ts'
import { silentLog } from '../log.ts'
import { AttributeStore } from './tree/attribute-store.ts'
import { timeOfMs } from './tree/attributes.ts'
import { preserve } from './unsent/content.ts'
import { errnoOf } from './errno-of.ts'
import type { FileSystemOptions } from './contract.ts'
import { HandleTable } from './tree/handles.ts'
import { longestTtlMs } from './tree/listings.ts'
import { TypePolicy } from './tree/names.ts'
import { Prefetch } from './ahead/prefetch.ts'
import { Claims } from './unsent/claims.ts'
import { Owners } from './unsent/owners.ts'
import { recover, sweepSpool } from './unsent/recovery.ts'
import { defaultSettleAfterMs, LocalOnly, settle } from './unsent/local-only.ts'
import { agreed, landed } from './unsent/agreed.ts'
import { giveWay } from './unsent/give-way.ts'
import { defaultHostName, mimetypeOf, type Settings, type Superblock } from './superblock.ts'
import { RefusedNames } from './refused-names.ts'
import { Tree } from './tree/tree.ts'
import { WalkAhead } from './ahead/walk-ahead.ts'
import { PinStore } from './pins/pin-store.ts'
import { Pins } from './pins/pins.ts'

/** `--pin-size`, where nothing is said. */
const defaultPinSizeBytes = 10 * 1024 ** 3

/** Opens journal and spool, takes up what is unsent, lists the root. Throws as `createFileSystem`. */
export async function start(options: FileSystemOptions): Promise<Superblock> {
  const settings = settingsOf(options)
  const types = new TypePolicy(options.unsupportedAs)
  const sb = assemble(options, settings, types)
  try {
    // First: as soon as the queue runs, files go because they are sent.
    await sweepSpool(sb)
    await recover(sb)
    // Where the service is away, the last saved listing stands in for it.
    await sb.tree.loadFresh(sb.tree.nodes.root)
    sb.pins.look()
    return sb
  } catch (error) {
    await stop(sb)
    throw error
  }
}

/** Ends all work; what is unsent stays journaled. */
export async function stop(sb: Superblock): Promise<void> {
  sb.files.close()
  await sb.pins.close()
  sb.localOnly.close()
  sb.refusedNames.close()
  await sb.queue.close()
  await sb.reader.close()
  sb.saved.close()
  // What is of no use any more goes with it; on a disk that cannot be written the next start sees to it.
  await sb.journal.durable().catch(() => {})
  sb.journal.close()
}

function settingsOf(options: FileSystemOptions): Settings {
  const cacheTtlMs = options.cacheTtlMs ?? 30_000
  if (!(cacheTtlMs >= 0 && cacheTtlMs < longestTtlMs)) {
    throw new ErrnoError(
      'EINVAL',
      'the cache TTL must be under 15 minutes: the download URLs in a listing live no longer',
    )
  }
  return {
    cacheTtlMs,
    closeWaitMs: options.closeWaitMs ?? 10_000,
    renameLimit: options.renameLimit ?? 1_000,
    readOnly: options.readOnly ?? false,
    keepConflicts: options.onConflict !== 'overwrite',
    hostName: options.hostName ?? defaultHostName(),
    stateDir: options.stateDir,
    cacheDir: options.cacheDir,
    settleAfterMs: options.settleAfterMs ?? defaultSettleAfterMs,
  }
}

function assemble(options: FileSystemOptions, settings: Settings, types: TypePolicy): Superblock {
  const journal = new Journal(settings.stateDir)
  const log = options.log ?? silentLog
  const tell = options.onNotice ?? (() => {})
  for (const sentence of journal.damage) {
    log.error({ stateDir: settings.stateDir }, sentence)
    tell({ kind: 'damaged', sentence })
  }
  const clock = options.clock ?? createClock()
  const files = new WatchedFiles(options.files, log)
  const saved = new SavedListings(settings.stateDir, log)
  const spool = new Spool(join(settings.stateDir, 'spool'), journal)
  mkdirSync(settings.cacheDir, { recursive: true, mode: 0o700 })
  const urls = new PresignedUrls({
    files,
    now: clock.steady,
    onChanged: (path, file) => sb.tree.recordChanged(path, file),
  })
  const pinStore = new PinStore(settings.stateDir, log)
  const reader = createReader({
    files,
    urls,
    cacheDir: settings.cacheDir,
    ...(options.cacheSizeBytes === undefined ? {} : { cacheSizeBytes: options.cacheSizeBytes }),
    pinned: {
      dir: join(settings.cacheDir, 'pinned', pinStore.id),
      sizeBytes: options.pinSizeBytes ?? defaultPinSizeBytes,
      covers: (path) => pinStore.pinOf(path) !== undefined,
    },
    log,
  })
  const conflicts = new ConflictCopies(journal, clock)
  const committer = new Committer({
    files,
    spool,
    reader,
    keepConflicts: settings.keepConflicts,
    hostName: settings.hostName,
    log,
    mimetypeOf: (path, head) => mimetypeOf(types, path, head),
    preserve: (path, signal) => preserve(sb, path, signal),
    // Decided while the service was away, by a listing of any age.
    isLate: ({ since }) => since <= files.reach.backAt,
    secure: async ({ spool: id }) => {
      if (id !== undefined && spool.has(id)) await spool.makeDurable(id)
      await journal.durable()
    },
    save: (intention) => journal.saveIntention(intention),
    conflictKept: (path, copy) => {
      conflicts.kept(path, copy)
      log.warn({ path, copy }, 'another client changed it too: their version is kept beside ours')
      tell({ kind: 'conflict', path, copy })
      // Asked for anew: the copy shows at once, not when the listing is old.
      void tree.look(copy)
    },
  })
  const queue = new CommitQueue({
    journal,
    log,
    clock,
    errnoOf,
    run: (intention, signal) => committer.run(intention, signal),
    giveWay: (intention, take, signal) => giveWay(sb, intention, take, signal),
    say: (event) => agreed(sb, event),
  })
  const attributes = new AttributeStore(journal)
  const tree = new Tree({
    files,
    reach: files.reach,
    ttlMs: settings.cacheTtlMs,
    now: clock.steady,
    wall: clock.wall,
    log,
    saved,
    follow: (undo) => journal.onRollback(undo),
    adorn: (node) => attributes.adorn(node),
    folderLanded: (node) => landed(sb, node),
  })
  const pins = new Pins({
    store: pinStore,
    tree,
    reader,
    urls,
    saved,
    reach: files.reach,
    log,
    cacheDir: settings.cacheDir,
    ttlMs: settings.cacheTtlMs,
  })
  const owner = {
    uid: options.uid ?? process.getuid?.() ?? 0,
    gid: options.gid ?? process.getgid?.() ?? 0,
    mountedAt: timeOfMs(clock.wall()),
  }
  const sb: Superblock = {
    settings, files, log, tree, handles: new HandleTable(), journal, saved, spool, queue, urls, reader,
    walkAhead: new WalkAhead(tree), prefetch: new Prefetch({ tree, reader, urls }), pinStore, pins, types, attributes, owner, clock,
    owners: new Owners((undo) => journal.onRollback(undo)), resting: new Map(), claims: new Claims({ journal, spool, log }),
    localOnly: new LocalOnly(settings.settleAfterMs, clock, (node) => settle(sb, node)),
    lost: new LostAndFound(settings.stateDir), tell,
    refusedNames: new RefusedNames({ types, clock, log, tell }), conflicts,
  } // prettier-ignore
  // Whatever waits for a service that was out of reach goes on as soon as it answers again.
  files.reach.onChange((state, before) => {
    if (state === 'away') {
      queue.pause()
      tell({ kind: 'away' })
    }
    if (state !== 'reachable' || before !== 'away') return
    tell({ kind: 'back' })
    // Decided by old listings: whatever the clock says of when, these look before they delete.
    queue.distrust([...queue.jobs()].filter(({ intention }) => intention.kind === 'delete'))
    queue.goOn()
    void tree.endStale()
  })
  return sb
}
