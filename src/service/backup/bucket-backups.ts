// Backups in a bucket. All share one set of contents, each stored once, under a name that is never used again:
//
//   contents/ab/<sha256>.<random> a content of one backup or more; <sha256> alone if an earlier version stored it
//   contents/removing/<random>    names of contents that a removal may remove, a line each
//   <name>/service.db             the database; beside it `download-secret`, which signs links
//   <name>/contents               names of the contents that this backup needs, a line each
//   <name>/backup.json            the manifest, written last: without it the backup does not count
//
// Backups are made and removed at the same time without a lock. Each side writes its intention before it looks for the
// other's, and lists of a bucket show everything that was written before them:
//
//   - A removal writes what it may remove, then reads the lists of all backups, and removes what none of them names.
//   - A backup writes its list, then looks that everything on it is there, and that no removal may remove it. Then it gets
//     its manifest; else it is made again, and stores those contents under new names.
//
// So the removal sees the list, or the backup sees the removal. A killed removal leaves its file, for which later backups
// store those contents again; the next removal ends it. A killed backup leaves its list, which counts for a day; a backup
// that gets its manifest later than an hour after its list is made again.

import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { S3Address } from '../blobs/s3/address.ts'
import { S3Client } from '../blobs/s3/client.ts'
import { listObjects } from '../blobs/s3/lists.ts'
import { S3Writer } from '../blobs/s3/writer.ts'
import { writeReadBack } from './copy-file.ts'
import type { FoundBackup } from './folder-backups.ts'
import {
  BackupError,
  type Manifest,
  databaseName,
  digestOf,
  manifestName,
  manifestText,
  parseManifest,
  secretName,
} from './manifest.ts'
import { type ContentKeeper, keepMoment, manifestOf } from './moment.ts'

const listName = 'contents'
const contentsFolder = 'contents/'
const removingFolder = `${contentsFolder}removing/`
const contentName = /^([0-9a-f]{64})(\.[0-9a-f]{16})?$/
const nameBytes = 8
/** How long the list of a backup without a manifest counts. */
const unfinishedMs = 24 * 3_600_000
/** Most time between the list of a backup and its manifest. */
const finishMs = 3_600_000
/** How often a backup is made at most, while others are removed. */
const maxAttempts = 5
/** Size of the reads of a file that is uploaded. */
const pieceBytes = 1024 * 1024

export class BucketBackups {
  readonly #client: S3Client

  /** Throws a StartError for a malformed address, or where there are no credentials. */
  static async open(address: S3Address): Promise<BucketBackups> {
    return new BucketBackups(await S3Client.open(address, Date.now))
  }

  private constructor(client: S3Client) {
    this.#client = client
  }

  /** Complete backups, the latest first. */
  async list(): Promise<FoundBackup[]> {
    const found: FoundBackup[] = []
    for await (const objects of listObjects(this.#client, '')) {
      for (const { key, changedAt } of objects) {
        const [name = '', file, ...more] = key.split('/')
        if (file === manifestName && more.length === 0) found.push({ name, madeAt: changedAt })
      }
    }
    return found.sort((a, b) => b.madeAt - a.madeAt)
  }

  /** Makes the backup `name` of `dataDir`; contents that the bucket has are not uploaded again. Throws a BackupError. */
  async make(dataDir: string, name: string): Promise<Manifest> {
    if ((await this.#text(`${name}/${manifestName}`)) !== undefined)
      throw new BackupError(`${name} is there already`)
    const folder = await mkdtemp(join(tmpdir(), 'docmount-backup-'))
    try {
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        const manifest = await this.#makeOnce(dataDir, name, join(folder, databaseName))
        if (manifest !== undefined) return manifest
      }
      throw new BackupError('other backups are being removed from the bucket: try again later')
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Undefined where a removal may have taken contents that the backup needs: it is not complete then. */
  async #makeOnce(dataDir: string, name: string, database: string): Promise<Manifest | undefined> {
    const keeper = new BucketKeeper(this.#client, await this.#lasting())
    const moment = await keepMoment(dataDir, database, keeper)
    const digests = {
      [databaseName]: await sendFile(this.#client, `${name}/${databaseName}`, database),
      [secretName]: await sendFile(this.#client, `${name}/${secretName}`, join(dataDir, secretName)),
    }
    // Contents of earlier snapshots may be kept, to which the last one does not refer.
    const needed = [...moment.kept].flatMap(([sha256, kept]) =>
      moment.snapshot.contents.has(sha256) && kept !== undefined ? [keeper.nameOf(kept)] : [],
    )
    const listedAt = Date.now()
    await this.#put(`${name}/${listName}`, `${needed.join('\n')}\n`)
    const lasting = await this.#lasting()
    if (!needed.every((each) => lasting.has(each))) return undefined
    const manifest = manifestOf(database, moment, digests)
    await this.#put(`${name}/${manifestName}`, manifestText(manifest))
    if (Date.now() - listedAt < finishMs) return manifest
    await this.#drop(`${name}/${manifestName}`)
    return undefined
  }

  /** Removes these backups, and the contents that none of the others needs. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names)
      for (const file of [manifestName, listName, databaseName, secretName])
        await this.#drop(`${name}/${file}`)
    const unused = await this.#contents()
    for (const each of (await this.#needed()) ?? unused) unused.delete(each)
    if (unused.size > 0) await this.#removeContents(unused)
    const left = await this.#contents()
    for (const [key, others] of await this.#removals())
      if (!others.some((each) => left.has(each))) await this.#drop(key)
  }

  async #removeContents(unused: ReadonlySet<string>): Promise<void> {
    const intention = `${removingFolder}${randomBytes(nameBytes).toString('hex')}`
    await this.#put(intention, `${[...unused].join('\n')}\n`)
    const needed = (await this.#needed()) ?? unused
    for (const each of unused) if (!needed.has(each)) await this.#drop(contentKey(each))
    await this.#drop(intention)
  }

  /** Returns the manifest of a backup. Throws a BackupError where there is none, or it is damaged. */
  async manifest(name: string): Promise<Manifest> {
    const text = await this.#text(`${name}/${manifestName}`)
    if (text === undefined)
      throw new BackupError(`the bucket has no whole backup ${name}${await this.#others()}`)
    return parseManifest(text, name)
  }

  /** Copies an object to the file `to`; returns the SHA-256 of that file. Undefined where there is no such object. */
  async fetch(key: string, to: string): Promise<string | undefined> {
    const answer = await this.#client.open({ method: 'GET', key, allowed: [404] })
    if (!answer.ok) {
      await answer.body?.cancel()
      return undefined
    }
    return writeReadBack(Readable.fromWeb(answer.body as ReadableStream), to)
  }

  /** Names of the contents that a backup needs, by SHA-256. */
  async contents(name: string): Promise<Map<string, string>> {
    return bySha256(linesOf((await this.#text(`${name}/${listName}`)) ?? ''))
  }

  async #contents(): Promise<Set<string>> {
    const names = new Set<string>()
    for await (const objects of listObjects(this.#client, contentsFolder))
      for (const { key } of objects) {
        const name = key.slice(key.lastIndexOf('/') + 1)
        if (contentName.test(name)) names.add(name)
      }
    return names
  }

  /** Names of the contents that no removal may remove. Those of removals that ended meanwhile are not listed any more. */
  async #lasting(): Promise<Set<string>> {
    const removed = [...(await this.#removals()).values()].flat()
    const names = await this.#contents()
    for (const name of removed) names.delete(name)
    return names
  }

  /** Keys of the removals under way, and of killed ones, with the names of the contents that they may remove. */
  async #removals(): Promise<Map<string, readonly string[]>> {
    const removals = new Map<string, readonly string[]>()
    for await (const objects of listObjects(this.#client, removingFolder))
      for (const { key } of objects) {
        const text = await this.#text(key)
        if (text !== undefined) removals.set(key, linesOf(text))
      }
    return removals
  }

  /** Names of the contents that backups need. Undefined where one has no list, and may need any content. */
  async #needed(): Promise<Set<string> | undefined> {
    const complete = new Set<string>()
    const listed = new Set<string>()
    // The clock of this machine is at most 15 minutes wrong: else the bucket refuses its requests.
    const since = Date.now() - unfinishedMs
    for await (const objects of listObjects(this.#client, ''))
      for (const { key, changedAt } of objects) {
        const [name = '', file, ...more] = key.split('/')
        if (more.length > 0) continue
        if (file === manifestName) complete.add(name)
        if (file === listName && changedAt > since) listed.add(name)
      }
    const needed = new Set<string>()
    for (const name of new Set([...complete, ...listed])) {
      const text = await this.#text(`${name}/${listName}`)
      if (text === undefined && complete.has(name)) return undefined
      for (const each of linesOf(text ?? '')) needed.add(each)
    }
    return needed
  }

  async #others(): Promise<string> {
    const names = (await this.list()).slice(0, 5).map(({ name }) => name)
    return names.length === 0 ? '' : `; it has ${names.join(', ')}`
  }

  async #text(key: string): Promise<string | undefined> {
    const answer = await this.#client.ask({ method: 'GET', key, allowed: [404] })
    return answer.ok ? answer.bytes.toString() : undefined
  }

  async #put(key: string, text: string): Promise<void> {
    const writer = new S3Writer(this.#client, key)
    await writer.write(Buffer.from(text))
    await writer.finish()
  }

  async #drop(key: string): Promise<void> {
    await this.#client.ask({ method: 'DELETE', key, allowed: [404] })
  }
}

/** Key of a content, without the prefix of the bucket's address. `name`: `<sha256>` or `<sha256>.<random>`. */
export function contentKey(name: string): string {
  return `${contentsFolder}${name.slice(0, 2)}/${name}`
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

function bySha256(names: Iterable<string>): Map<string, string> {
  return new Map([...names].map((name) => [contentName.exec(name)?.[1] ?? name, name]))
}

class BucketKeeper implements ContentKeeper {
  readonly already: ReadonlySet<string>
  /** Names of the contents that are there, by SHA-256. */
  readonly #names: Map<string, string>
  readonly #client: S3Client

  /** `there`: names of contents in the bucket. */
  constructor(client: S3Client, there: ReadonlySet<string>) {
    this.#client = client
    this.#names = bySha256(there)
    this.already = new Set(this.#names.keys())
  }

  /** Name of a content that is kept. */
  nameOf(sha256: string): string {
    return this.#names.get(sha256)!
  }

  async keep(sha256: string, file: string): Promise<string> {
    if (this.#names.has(sha256)) return sha256
    // A damaged content is stored under the digest of the bytes it has.
    const found = await digestOf(file)
    if (!this.#names.has(found)) {
      const name = `${found}.${randomBytes(nameBytes).toString('hex')}`
      const sent = await sendFile(this.#client, contentKey(name), file)
      if (sent !== found) throw new BackupError(`${file} changed while it was read`)
      this.#names.set(found, name)
    }
    return found
  }

  /** Does nothing: an upload is durable when S3 has answered. */
  async sync(): Promise<void> {}
}

/** Uploads a file; returns its SHA-256, which S3 has verified. Throws the system's error where the file cannot be read. */
async function sendFile(client: S3Client, key: string, file: string): Promise<string> {
  const source = await open(file, 'r')
  const writer = new S3Writer(client, key)
  try {
    for await (const piece of source.createReadStream({ autoClose: false, highWaterMark: pieceBytes }))
      await writer.write(piece as Buffer).catch(refuse)
    return (await writer.finish().catch(refuse)).sha256
  } catch (error) {
    await writer.discard()
    throw error
  } finally {
    await source.close()
  }
}

function refuse(error: unknown): never {
  const { message } = error as Error
  throw new BackupError(`the bucket takes no backup: ${message}`, { cause: error })
}
