// Names of a drive with the rows that decide what each shows, and what did show: a difference can be told, sent, and computed again
// elsewhere (`test/ledger/report.test.ts`). Pure.

import { agrees, fingerprintOf, isSameVersion } from '../content/fingerprint.ts'
import { shown, type Listed, type Placed, type SyncedPath, type Told } from './view.ts'

/** A document or folder, as a listing tells of it or as a node has it. */
export interface Item {
  readonly kind: 'file' | 'folder'
  /** Number of the node; undefined for what only a listing tells of. */
  readonly ino?: number | undefined
  /** False for a document that the service never told of. */
  readonly isTold: boolean
  readonly size: number | undefined
  readonly modifiedAt: string | undefined
  /** Id of its content on this machine. */
  readonly spool?: string | undefined
}

export interface NameRows {
  readonly name: string
  readonly listed: Item | undefined
  readonly placed: Placed<Item> | undefined
  readonly synced: SyncedPath | undefined
  readonly shows: Item | undefined
}

export interface FolderRows {
  readonly path: string
  /** When its listing was asked for (ms of the drive's own clock); undefined where none is known. */
  readonly listedAt: number | undefined
  readonly names: readonly NameRows[]
}

const noVersion = { size: undefined, modifiedAt: undefined }

/** Returns a sentence for each name that shows something else than its rows say. */
export function differencesIn(folder: FolderRows): readonly string[] {
  const { path, listedAt, names } = folder
  const rows = new Map(names.map((row) => [row.name, row]))
  const expected = shown<Item>({
    listing: listingOf(folder),
    placed: new Map(names.flatMap(({ name, placed }) => (placed === undefined ? [] : [[name, placed]]))),
    synced: (name) => rows.get(name)?.synced,
  })
  return names.flatMap(({ name, listed, placed, synced, shows }) => {
    const should = itemOf(expected.get(name))
    if (isSame(shows, should)) return []
    return [
      `${path === '/' ? '' : path}/${name} shows ${said(shows)}, and should show ${said(should)}: listed at ${listedAt} is ` +
        `${said(listed)}, here is ${said(placed?.shows)}, known is ${JSON.stringify(synced)}`,
    ]
  })
}

/** Returns the value of a report's JSON, in which a time without end is null. */
export function parseReport(json: string): unknown {
  return JSON.parse(json, (key, value: unknown) => (key === 'until' && value === null ? Infinity : value))
}

function listingOf({ listedAt, names }: FolderRows): Listed | undefined {
  if (listedAt === undefined) return undefined
  const told = new Map<string, Told>()
  for (const { name, listed } of names) if (listed !== undefined) told.set(name, toldOf(name, listed))
  return { requestedAt: listedAt, names: told }
}

function toldOf(name: string, { kind, size, modifiedAt }: Item): Told {
  if (kind === 'folder') return { kind, name }
  return { kind, name, size, modifiedAt, mimetype: undefined, url: undefined }
}

/** Returns what a listing tells of, or what a node has of it, as an item. */
export function itemOf(what: Item | Told | undefined): Item | undefined {
  if (what === undefined || 'isTold' in what) return what
  const { size, modifiedAt } = what.kind === 'file' ? what : noVersion
  return { kind: what.kind, isTold: true, size, modifiedAt }
}

function isSame(one: Item | undefined, other: Item | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  if (one.ino !== undefined && one.ino === other.ino) return true
  if (one.kind !== other.kind) return false
  if (one.kind === 'folder') return true
  if (!one.isTold || !other.isTold) return false
  return agrees(other, one) || isSameVersion(fingerprintOf(one), fingerprintOf(other))
}

function said(item: Item | undefined): string {
  if (item === undefined) return 'nothing'
  if (item.kind === 'folder') return 'a folder'
  const version = item.isTold ? fingerprintOf(item) : 'no version'
  return item.spool === undefined ? version : `${item.spool} (${version})`
}
