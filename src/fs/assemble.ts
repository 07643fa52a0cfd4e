// Puts the parts of a filesystem together: the one place that knows all of them, and which is told of what by whom.

import { join } from 'node:path'
import { createReader } from '../content/read/block-reader.ts'
import { CommitQueue } from '../content/commit/commit-queue.ts'
import { Committer, type CommitterOptions } from '../content/commit/committer.ts'
import type { Job } from '../content/commit/job.ts'
import type { QueueEvent } from '../content/commit/queue-event.ts'
import type { Questions } from '../content/commit/questions.ts'
import { LateFiles } from '../content/commit/late-files.ts'
import { WatchedFiles } from '../content/reach/watched-files.ts'
import { LostAndFound } from '../content/spool/lost-and-found.ts'
import { Journal } from '../content/spool/journal.ts'
import { makePrivateFolder } from '../content/spool/private-file.ts'
import { PresignedUrls } from '../content/read/presigned-urls.ts'
import { SavedListings } from '../content/spool/saved-listings.ts'
import { Spool } from '../content/spool/spool.ts'
import { UndoStore } from '../content/undo/undo-store.ts'
import { followReach } from './control/away-and-back.ts'
import { ConflictCopies } from './attention/conflict-copies.ts'
import { realWorld } from '../world/world.ts'
import { silentLog } from '../log.ts'
import { nameOf } from '../path.ts'
import { AttributeStore } from './tree/attribute-store.ts'
import { timeOfMs } from './tree/attributes.ts'
import { overtaken } from './unsent/overtaken.ts'
import { preserve } from './unsent/preserve.ts'
import { errnoOf } from './errno-of.ts'
import type { FileSystemOptions } from './contract.ts'
import { HandleTable } from './tree/handles.ts'
import { TypePolicy } from './tree/names.ts'
import { Prefetch } from './ahead/prefetch.ts'
import { Bursts } from './unsent/bursts.ts'
import { changeOf } from './change.ts'
import { Claims } from './unsent/claims.ts'
import { Owners } from './unsent/owners.ts'
import { SaveFailures } from './unsent/save-failures.ts'
import { Saves } from './unsent/submit.ts'
import { hideLockDocuments, ListedLocks } from './locks/hide-lock-documents.ts'
import { LocalOnly } from './unsent/local-only.ts'
import { sendIfDocument } from './unsent/send-if-document.ts'
import { CloseWait } from './unsent/close-wait.ts'
import { Sizes } from './calls/sizes.ts'
import { RemoteContent } from './tree/remote-content.ts'
import { agreed, folderCreatedRemotely } from './unsent/agreed.ts'
import { contentTakenAway, refill } from './unsent/state-dir-watch.ts'
import { DamageReports } from './attention/damage-reports.ts'
import { giveToCache } from './unsent/give-to-cache.ts'
import { keepFormer } from './unsent/keep-former.ts'
import { materialize } from './unsent/materialize.ts'
import { settingsOf } from './settings.ts'
import type { Superblock } from './superblock.ts'
import { PathDepth } from './tree/path-depth.ts'
import { RefusedNames } from './attention/refused-names.ts'
import { Undecided } from './unsent/undecided.ts'
import { Tree } from './tree/tree.ts'
import { WalkAhead } from './ahead/walk-ahead.ts'
import { PinStore } from './pins/pin-store.ts'
import { followMove } from './pins/follow-rename.ts'
import { Pins } from './pins/pins.ts'

/** `--pin-size`, where nothing is said. */
const defaultPinSizeBytes = 10 * 1024 ** 3

/** Opens journal and spool, asks the service nothing. Throws as `createFileSystem` for what is wrong with options or state folder. */
export function assemble(options: FileSystemOptions): Superblock {
  const settings = settingsOf(options)
  const types = new TypePolicy(options.unsupportedAs)
  const world = options.world ?? realWorld()
  const { clock, disk } = world
  const journal = new Journal(settings.stateDir, world)
  const log = options.log ?? silentLog
  const tell = options.onNotice ?? (() => {})
  const damageReports = new DamageReports({ stateDir: settings.stateDir, clock, log, tell })
  for (const sentence of journal.damage) damageReports.report(sentence)
  journal.onStepFailed = (error) =>
    log.error({ error }, 'what follows a change failed: the change itself is kept')
  journal.onDamage = (sentence) => damageReports.report(sentence)
  const listedLocks = new ListedLocks()
  const shown = settings.shareLocks ? hideLockDocuments(options.files, listedLocks) : options.files
  const files = new WatchedFiles(shown, log, world, {
    onRefused: (reason) => tell({ kind: 'keyRefused', reason }),
    onTaken: () => void queue.runNow(({ attempts }) => attempts > 0),
  })
  const changing = new LateFiles(files, clock, journal.sentDeletes)
  const saved = new SavedListings(settings.stateDir, log, clock)
  const spool = new Spool(join(settings.stateDir, 'spool'), journal.contents, world)
  spool.onTakenAway = () => damageReports.report(contentTakenAway)
  makePrivateFolder(settings.cacheDir, disk)
  const urls = new PresignedUrls({
    files,
    now: clock.steady,
    onChanged: (path, file) => sb.tree.recordChanged(path, file),
  })
  const pinStore = new PinStore(settings.stateDir, log, world)
  const reader = createReader({
    files,
    urls,
    world,
    onReceived: ({ path, size }) =>
      options.onChange?.({ kind: 'received', path, ...(size === undefined ? {} : { bytes: size }) }),
    silentMs: (since) => files.uplink.silentMs(since),
    cacheDir: settings.cacheDir,
    ...(options.cacheSizeBytes === undefined ? {} : { cacheSizeBytes: options.cacheSizeBytes }),
    pinned: {
      dir: join(settings.cacheDir, 'pinned', pinStore.id),
      sizeBytes: options.pinSizeBytes ?? defaultPinSizeBytes,
      covers: (path) => pinStore.pinOf(path) !== undefined,
    },
    log,
  })
  const conflicts = new ConflictCopies(journal.conflicts, clock)
  const ask: Questions = {
    preserve: async (path, signal, going) => {
      await sb.preserve(path, signal)
      if (going !== undefined) await keepFormer(sb, [going], signal)
    },
    materialize: (intention, take, signal) => materialize(sb, intention, take, signal),
    mimetypeOf: (path, content) => types.mimetypeOfDocument(nameOf(path), content),
    errnoOf,
  }
  const say = (event: QueueEvent): void => {
    agreed(sb, event)
    if (event.kind === 'done') followMove(pins, event.intention)
    const change = options.onChange === undefined ? undefined : changeOf(event)
    if (change !== undefined) journal.afterCommit(() => options.onChange?.(change))
  }
  const committer = committerOf({
    settings,
    changing,
    clock,
    journal,
    spool,
    reader,
    log,
    ask,
    say,
  })
  const queue = new CommitQueue({
    journal,
    log,
    clock,
    chance: world.chance,
    ask,
    run: (intention, signal) => committer.run(intention, signal),
    deleteSource: (intention, signal) => committer.deleteSource(intention, signal),
    isSourceReplaced: (intention, signal) => committer.isSourceReplaced(intention, signal),
    say,
    atOnce: (most) => files.uplink.atOnce(most),
  })
  const attributes = new AttributeStore(journal)
  const { reach } = files
  const tree = new Tree({
    files,
    reach,
    ttlMs: settings.cacheTtlMs,
    now: clock.steady,
    timers: clock,
    memory: settings.memory,
    wall: clock.wall,
    log,
    saved,
    afterCommit: (step) => journal.afterCommit(step),
    isToBeEmptied: (path) => queue.isToBeEmptied(path),
    isOfFormerFolder: (path) => queue.isOfFormerFolder(path),
    foundHidden: (path) => queue.foundAt(path),
    applyAttributes: (node) => attributes.applyAttributes(node),
    folderCreatedRemotely: (node) => folderCreatedRemotely(sb, node),
    overtaken: (node) => overtaken(sb.claims, node),
    dropped: (node) => sb.claims.dropped(node),
  })
  const remote = new RemoteContent(reader, urls)
  const pins = new Pins({
    store: pinStore,
    tree,
    reader,
    urls,
    saved,
    reach,
    log,
    clock,
    disk,
    cacheDir: settings.cacheDir,
    ttlMs: settings.cacheTtlMs,
  })
  const owner = {
    uid: options.uid ?? process.getuid?.() ?? 0,
    gid: options.gid ?? process.getgid?.() ?? 0,
    mountedAt: timeOfMs(clock.wall()),
  }
  const handles = new HandleTable()
  const owners = new Owners()
  const claims = new Claims({ journal, spool, log })
  const runNow = (job: Job): void => void queue.runNow((intention) => intention === job.intention)
  const closeWait = new CloseWait({
    closeWaitMs: settings.closeWaitMs,
    clock,
    reach,
    journal,
    log,
    runNow: runNow,
  })
  const refusedNames = new RefusedNames({ types, clock, log, tell })
  const undecided = new Undecided({ tree, types, refusedNames })
  const localOnly = new LocalOnly(settings.temporaryMs, clock, (node) => sendIfDocument(sb, node))
  const saveFailures = new SaveFailures({ ...world, log, tell, keep: (node) => saves.commit(node) })
  const bursts = new Bursts({
    clock,
    waitMs: options.closeWaitMs === undefined ? settings.closeWaitMs : undefined,
    isReachable: () => reach.state === 'reachable',
    durable: () => journal.durable(),
  })
  const saves = new Saves({
    journal, queue, spool, reader, remote, reach, tree, owner, handles, owners, claims, closeWait, localOnly, saveFailures, bursts, attributes, undecided,
    clock, log,
  }) // prettier-ignore
  const sb: Superblock = {
    settings, files, changing, log, tree, handles, journal, saved, spool, queue, urls, reader, remote, reach, closeWait, bursts, pinStore, pins, types,
    attributes, owner, clock, disk, owners, claims, localOnly, saveFailures, saves, damageReports, tell, conflicts,
    chance: world.chance,
    sizes: new Sizes({ tree, files, reach, remote, clock, ttlMs: settings.cacheTtlMs }),
    walkAhead: new WalkAhead(tree), prefetch: new Prefetch({ tree, remote }),
    lost: new LostAndFound(settings.stateDir, disk),
    undo: new UndoStore({
      dir: join(settings.stateDir, 'undo'), sizeBytes: settings.undoSizeBytes, ageMs: settings.undoMs, world, log,
    }),
    refusedNames, undecided, listedLocks,
    pathDepth: new PathDepth(),
    refusedBytes: () => committer.refusedBytes,
    preserve: (path, signal) => preserve(sb, path, signal),
  } // prettier-ignore
  claims.onFreed = (node) => giveToCache(sb, node)
  journal.onLost = () => refill(sb)
  followReach(sb)
  return sb
}

/** Parts of the filesystem that the committer uses, with the questions it asks and the events it says. */
interface CommitterParts extends Pick<
  Superblock,
  'settings' | 'changing' | 'clock' | 'journal' | 'spool' | 'reader' | 'log'
> {
  readonly ask: Questions
  readonly say: CommitterOptions['say']
}

function committerOf(parts: CommitterParts): Committer {
  const { settings, changing, clock, journal, spool, reader, log, ask, say } = parts
  return new Committer({
    files: changing,
    timers: clock,
    spool,
    reader,
    keepConflicts: settings.keepConflicts,
    hostName: settings.hostName,
    log,
    ask,
    say,
    secure: async ({ spool: id }) => {
      if (id !== undefined && spool.has(id)) await spool.makeDurable(id)
      await journal.durable()
    },
    save: (intention) => journal.intentions.save(intention),
  })
}
