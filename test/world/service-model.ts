// A service as the interface describes it, and no more than that: a few hundred documents in memory, listings that lag
// where it likes, fields it need not send, a clock of its own. Independent of src/service. Answers are made at once; what
// becomes of them on the way is the network's affair.

import { createHash } from 'node:crypto'
import type { Chance } from '../model/chance.ts'

export const project = 'p'
export const serviceOrigin = 'http://service.simulated'
export const downloadOrigin = 'http://files.simulated'
const urlLifetimeMs = 15 * 60_000

/** Choices of this service where the interface leaves one. */
export interface Habits {
  /** Listings are at most so old (ms). */
  readonly lagMs: number
  readonly tellsSizes: boolean
  readonly tellsUrlsInListings: boolean
  readonly tellsTypes: boolean
  readonly hasEtags: boolean
  readonly takesRanges: boolean
  readonly copiesByUri: boolean
  /** Of two requests that come on one connection the second waits for the first. */
  readonly keepsOrder: boolean
  /** A folder goes with its last document, as in an object store. */
  readonly foldersVanish: boolean
  /** How far its clock is off (ms), and how fine it tells the time (ms). */
  readonly clockOffMs: number
  readonly clockStepMs: number
}

export interface Document {
  readonly id: number
  readonly bytes: Buffer
  readonly mimetype: string
  readonly modifiedAt: string
}

export interface ModelAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface ModelRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** How long it was on its way (ms). */
  readonly onItsWayMs: number
}

export class ServiceModel {
  readonly documents = new Map<string, Document>()
  readonly folders = new Set<string>(['/'])
  readonly habits: Habits
  readonly #now: () => number
  readonly #chance: Chance
  #lastId = 0
  /** The state of a path before each change, latest last: for listings that lag. */
  #past: { at: number; path: string; before: Document | 'folder' | undefined }[] = []
  /** Digests of all that was ever stored, by path. */
  readonly #everAt = new Map<string, Set<string>>()
  /** How many of its listings lag for now, 0 to 1. */
  lagging = 0
  readonly calls = { get: 0, list: 0, put: 0, delete: 0, download: 0 }
  /** When a document was first told of to whoever looks, by its number: in a listing, or by itself, but to who is about to replace it. */
  readonly shownAt = new Map<number, number>()
  /** When a record that told the time alone was first shown: by path and time, of whatever was stored there then. */
  readonly #shownByTimeAt = new Map<string, number>()
  /** True: a PUT below a document is refused as an invalid path. False: as if the document to be stored were there. */
  refusesBelowDocuments = false
  /** True while the drive looks at what it is about to replace, or to take away, there. */
  isSending: (path: string) => boolean = () => false
  /** Told of each document that a DELETE takes away: of what path, and when it was sent. */
  onDestroyed: (id: number, at: string, sentAt: number) => void = () => {}
  /** Told of each look at a path: the names it was answered with, if it is a folder, and as of when. */
  onLooked: (path: string, names: readonly string[] | undefined, asOf: number) => void = () => {}

  constructor(habits: Habits, chance: Chance, now: () => number) {
    this.habits = habits
    this.#chance = chance
    this.#now = now
  }

  handle(request: ModelRequest): ModelAnswer {
    const url = new URL(request.target, serviceOrigin)
    if (url.pathname !== `/api/projects/${project}/files`) return failure(404, 'no such endpoint')
    if (request.headers['x-api-key'] !== 'key') return failure(401, 'Unauthorized')
    const path = normalised(url.searchParams.get('path') ?? '/')
    if (request.method === 'GET') return this.#get(path)
    if (request.method === 'PUT') return this.#put(path, request.body)
    return this.#delete(path, this.#now() - request.onItsWayMs)
  }

  download(request: ModelRequest): ModelAnswer {
    this.calls.download++
    const url = new URL(request.target, downloadOrigin)
    const document = this.#signed(url)
    if (document === undefined) return failure(403, 'the link is no longer good')
    const range = this.habits.takesRanges ? /^bytes=(\d+)-(\d+)$/.exec(request.headers['range'] ?? '') : null
    const etag: Record<string, string> = this.habits.hasEtags ? { etag: `"${document.id}"` } : {}
    const { bytes } = document
    if (range === null)
      return { status: 200, headers: { ...etag, 'content-length': String(bytes.length) }, body: bytes }
    const from = Number(range[1])
    const body = bytes.subarray(from, Number(range[2]) + 1)
    if (body.length === 0)
      return { status: 416, headers: { 'content-range': `bytes */${bytes.length}` }, body: Buffer.alloc(0) }
    const headers = {
      ...etag,
      'content-length': String(body.length),
      'content-range': `bytes ${from}-${from + body.length - 1}/${bytes.length}`,
    }
    return { status: 206, headers, body }
  }

  /** Another client, or a PUT: throws nothing, answers whether it was stored. */
  store(path: string, bytes: Buffer, mimetype = 'text/plain'): Document | undefined {
    if (this.documents.has(path) || this.folders.has(path)) return undefined
    for (let folder = folderOf(path); folder !== '/'; folder = folderOf(folder)) {
      if (this.documents.has(folder)) return undefined
      this.#change(folder, () => this.folders.add(folder))
    }
    const { clockOffMs, clockStepMs } = this.habits
    const time = Math.floor((this.#now() + clockOffMs) / clockStepMs) * clockStepMs
    const modifiedAt = new Date(time).toISOString()
    const document = { id: ++this.#lastId, bytes, mimetype, modifiedAt }
    this.#everAt.set(path, (this.#everAt.get(path) ?? new Set()).add(digestOf(bytes)))
    this.#change(path, () => this.documents.set(path, document))
    return document
  }

  /** True where these bytes were ever stored at this path. */
  hadAt(path: string, bytes: Uint8Array): boolean {
    return this.#everAt.get(path)?.has(digestOf(bytes)) === true
  }

  /**
   * When a record was first shown that is as true of this version as of the one it was made for. The interface leaves it open:
   * two versions of one second are told apart by their lengths alone, and a listing need not tell those.
   */
  lookedLikeAt(path: string, { id, modifiedAt }: Document): number {
    return Math.min(
      this.shownAt.get(id) ?? Infinity,
      this.#shownByTimeAt.get(`${path}@${modifiedAt}`) ?? Infinity,
    )
  }

  #isBelowDocument(path: string): boolean {
    for (let above = folderOf(path); above !== '/'; above = folderOf(above))
      if (this.documents.has(above)) return true
    return false
  }

  /** With everything below it. False where there is nothing. */
  remove(path: string): boolean {
    if (!this.documents.has(path) && !this.folders.has(path)) return false
    const isBelow = (other: string): boolean => isAtOrBelow(other, path)
    for (const other of [...this.documents.keys()].filter(isBelow))
      this.#change(other, () => this.documents.delete(other))
    for (const other of [...this.folders].filter(isBelow))
      this.#change(other, () => this.folders.delete(other))
    if (this.habits.foldersVanish) this.#vanish(folderOf(path))
    return true
  }

  #vanish(folder: string): void {
    if (folder === '/' || this.#namesIn(folder, this.documents.keys(), this.folders).size > 0) return
    this.#change(folder, () => this.folders.delete(folder))
    this.#vanish(folderOf(folder))
  }

  #change(path: string, change: () => void): void {
    const before = this.documents.get(path) ?? (this.folders.has(path) ? ('folder' as const) : undefined)
    const now = this.#now()
    this.#past.push({ at: now, path, before })
    if (this.#past.length > 2_000) this.#past = this.#past.filter(({ at }) => at > now - this.habits.lagMs)
    change()
  }

  #get(path: string): ModelAnswer {
    if (this.folders.has(path)) this.calls.list++
    else this.calls.get++
    const document = this.documents.get(path)
    if (!this.folders.has(path)) this.onLooked(path, undefined, this.#now())
    if (document !== undefined) return json(200, this.#file(nameOf(path), path, document, true))
    if (!this.folders.has(path)) return failure(404, 'nothing here')
    return json(200, { ftype: 'folder', name: nameOf(path), entries: this.#entries(path) })
  }

  #entries(folder: string): object[] {
    let { documents, folders }: { documents: Map<string, Document>; folders: Set<string> } = this
    let asOf = this.#now()
    if (this.habits.lagMs > 0 && this.#chance.random() < this.lagging) {
      asOf -= this.#chance.below(this.habits.lagMs)
      documents = new Map(documents)
      folders = new Set(folders)
      for (const { at, path, before } of this.#past.toReversed()) {
        if (at <= asOf) break
        documents.delete(path)
        folders.delete(path)
        if (before === 'folder') folders.add(path)
        else if (before !== undefined) documents.set(path, before)
      }
    }
    const names = [...this.#namesIn(folder, documents.keys(), folders)]
    this.onLooked(folder, names, asOf)
    return names.map((name) => {
      const path = folder === '/' ? `/${name}` : `${folder}/${name}`
      const document = documents.get(path)
      return document === undefined ? { ftype: 'folder', name } : this.#file(name, path, document, false)
    })
  }

  #namesIn(folder: string, documents: Iterable<string>, folders: Iterable<string>): Set<string> {
    const names = new Set<string>()
    for (const paths of [documents, folders])
      for (const path of paths) if (path !== '/' && folderOf(path) === folder) names.add(nameOf(path))
    return names
  }

  #file(name: string, path: string, document: Document, isAlone: boolean): object {
    const { tellsSizes, tellsTypes, tellsUrlsInListings } = this.habits
    const isLook = !isAlone || !this.isSending(path)
    if (isLook && !this.shownAt.has(document.id)) this.shownAt.set(document.id, this.#now())
    const byTime = `${path}@${document.modifiedAt}`
    if (!tellsSizes && !isAlone && !this.#shownByTimeAt.has(byTime))
      this.#shownByTimeAt.set(byTime, this.#now())
    const expires = this.#now() + urlLifetimeMs
    return {
      ftype: 'file',
      name,
      modified_at: document.modifiedAt,
      ...(tellsSizes || isAlone ? { size: document.bytes.length } : {}),
      ...(tellsTypes ? { mimetype: document.mimetype } : {}),
      ...(tellsUrlsInListings || isAlone
        ? { url: `${downloadOrigin}/d?path=${encodeURIComponent(path)}&id=${document.id}&expires=${expires}` }
        : {}),
    }
  }

  /** The document that a link leads to, while the link is good and that document still stands there. */
  #signed(url: URL): Document | undefined {
    const document = this.documents.get(url.searchParams.get('path') ?? '')
    const isGood = Number(url.searchParams.get('expires')) > this.#now()
    return isGood && document?.id === Number(url.searchParams.get('id')) ? document : undefined
  }

  #put(path: string, body: Buffer): ModelAnswer {
    this.calls.put++
    let upload: { mimetype?: string; file_type?: string; file?: string }
    try {
      upload = JSON.parse(body.toString('utf8')) as typeof upload
    } catch {
      return failure(400, 'malformed body')
    }
    if (path === '/' || path.split('/').includes('..')) return failure(400, 'invalid path')
    if (this.refusesBelowDocuments && this.#isBelowDocument(path))
      return failure(400, 'a document is above it')
    const { mimetype = 'text/plain', file_type: kind, file = '' } = upload
    let bytes = Buffer.from(file, 'base64')
    if (kind === 'uri') {
      if (!this.habits.copiesByUri) return failure(400, 'file_type uri is not taken here')
      const source = this.#signed(new URL(file))
      if (source === undefined) return failure(400, 'the link cannot be fetched')
      bytes = Buffer.from(source.bytes)
    }
    const document = this.store(path, bytes, mimetype)
    if (document === undefined) return failure(409, 'a file exists at the path')
    return json(201, this.#file(nameOf(path), path, document, true))
  }

  #delete(path: string, sentAt: number): ModelAnswer {
    this.calls.delete++
    if (path === '/') return failure(400, 'the root cannot be deleted')
    const gone = [...this.documents].filter(([other]) => isAtOrBelow(other, path))
    if (!this.remove(path)) return failure(404, 'nothing here')
    for (const [, { id }] of gone) this.onDestroyed(id, path, sentAt)
    return { status: 204, headers: {}, body: Buffer.alloc(0) }
  }
}

function json(status: number, value: object): ModelAnswer {
  const body = Buffer.from(JSON.stringify(value))
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
    body,
  }
}

export function failure(
  status: number,
  errorMessage: string,
  headers: Record<string, string> = {},
): ModelAnswer {
  const answer = json(status, { errorMessage })
  return { ...answer, headers: { ...answer.headers, ...headers } }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('base64')
}

function normalised(path: string): string {
  return `/${path
    .split('/')
    .filter((name) => name !== '')
    .join('/')}`
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A service of some kind, by chance: most say what they may, some as little as they may. */
export function someHabits(chance: Chance): Habits {
  const mostly = (): boolean => chance.random() < 0.8
  return {
    lagMs: chance.pick([0, 800, 5_000]),
    tellsSizes: mostly(),
    tellsUrlsInListings: mostly(),
    tellsTypes: mostly(),
    hasEtags: mostly(),
    takesRanges: mostly(),
    copiesByUri: mostly(),
    keepsOrder: mostly(),
    foldersVanish: false,
    clockOffMs: chance.pick([0, 0, -3_600_000, 90_000, 86_400_000 * 400]),
    clockStepMs: chance.pick([1, 1, 1_000]),
  }
}
