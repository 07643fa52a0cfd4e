// Backups in a bucket. All share one set of contents, each stored once under its SHA-256:
//
//   contents/ab/<sha256>          a content of one backup or more
//   <name>/service.db             the database; beside it `download-secret`, which signs links
//   <name>/contents               SHA-256 of the contents that this backup needs, a line each
//   <name>/backup.json            the manifest, written last: without it the backup does not count

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
      const database = join(folder, databaseName)
      const keeper = new BucketKeeper(this.#client, await this.#contents())
      const moment = await keepMoment(dataDir, database, keeper)
      const digests = {
        [databaseName]: await sendFile(this.#client, `${name}/${databaseName}`, database),
        [secretName]: await sendFile(this.#client, `${name}/${secretName}`, join(dataDir, secretName)),
      }
      // Contents of earlier snapshots may be kept, to which the last one does not refer.
      const needed = [...moment.kept].flatMap(([sha256, kept]) =>
        moment.snapshot.contents.has(sha256) && kept !== undefined ? [kept] : [],
      )
      await this.#put(`${name}/${listName}`, `${needed.join('\n')}\n`)
      const manifest = manifestOf(database, moment, digests)
      await this.#put(`${name}/${manifestName}`, manifestText(manifest))
      return manifest
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Removes these backups, and the contents that none of the others needs. */
  async remove(names: readonly string[]): Promise<void> {
    for (const name of names)
      for (const file of [manifestName, listName, databaseName, secretName])
        await this.#drop(`${name}/${file}`)
    const unused = await this.#contents()
    for (const { name } of await this.list()) {
      const needed = await this.#text(`${name}/${listName}`)
      // A backup without a list may need any content: none is removed.
      if (needed === undefined) return
      for (const sha256 of needed.split('\n')) unused.delete(sha256)
    }
    for (const sha256 of unused) await this.#drop(contentKey(sha256))
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

  async #contents(): Promise<Set<string>> {
    const names = new Set<string>()
    for await (const objects of listObjects(this.#client, contentsFolder))
      for (const { key } of objects) names.add(key.slice(key.lastIndexOf('/') + 1))
    return names
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

/** Key of a content, without the prefix of the bucket's address. */
export function contentKey(sha256: string): string {
  return `${contentsFolder}${sha256.slice(0, 2)}/${sha256}`
}

class BucketKeeper implements ContentKeeper {
  readonly already: ReadonlySet<string>
  readonly #there: Set<string>
  readonly #client: S3Client

  constructor(client: S3Client, there: ReadonlySet<string>) {
    this.#client = client
    this.already = there
    this.#there = new Set(there)
  }

  async keep(sha256: string, file: string): Promise<string> {
    if (this.#there.has(sha256)) return sha256
    // A damaged content is stored under the digest of the bytes it has.
    const found = await digestOf(file)
    if (!this.#there.has(found)) {
      const sent = await sendFile(this.#client, contentKey(found), file)
      if (sent !== found) throw new BackupError(`${file} changed while it was read`)
      this.#there.add(found)
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
