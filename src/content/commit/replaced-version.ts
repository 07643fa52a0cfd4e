// The version that a save replaces. It is kept as a backup here before it is deleted, and put back if the service then refuses
// the save: for all other clients the document would be gone. The committer calls `fetchWhole` where a refusal is to be feared,
// `backUp` before the delete, then `dropBackup` or `putBack`.

import { ApiError } from '../../api/errors.ts'
import type { RemoteFile } from '../../api/types.ts'
import { withDigest } from '../digest.ts'
import { fingerprintOf, versionOf } from '../fingerprint.ts'
import type { Intention } from '../intention.ts'
import { backupOf } from '../read/backup-blocks.ts'
import { completeRecord } from '../remote-lookup.ts'
import type { SpoolFile } from '../spool/spool-file.ts'
import { isWorthRetrying } from './backoff.ts'
import { storeAt, sendableType } from './store-at.ts'
import type { QueueEvent } from './queue-event.ts'
import type { UploadsOptions } from './uploads.ts'

export interface ReplacedVersionOptions extends UploadsOptions {
  /** Makes the intention and its content survive a power cut. */
  secure(intention: Intention): Promise<void>
  /**
   * Called with `conflictKept` and `standsOn`, outside any transaction: if it throws, the attempt fails and is
   * tried again.
   */
  say(event: QueueEvent): void
}

export class ReplacedVersion {
  readonly #options: ReplacedVersionOptions

  constructor(options: ReplacedVersionOptions) {
    this.#options = options
  }

  /** Fetches the version to be replaced, as far as there is space: the save that replaces it may be refused. */
  async fetchWhole(path: string, standing: RemoteFile, signal: AbortSignal): Promise<void> {
    const { reader, log } = this.#options
    reader.looked(path, standing)
    await reader.fetchWhole(versionOf(path, fingerprintOf(standing)), { signal }).catch((error: unknown) => {
      signal.throwIfAborted()
      log.info({ path, error: String(error) }, 'what is replaced could not be brought here before')
    })
  }

  /** Keeps a backup of the intention's base, which is at the path and about to be deleted. */
  backUp({ path, base }: Intention): void {
    if (base !== undefined) this.#options.reader.backUpBlocks(versionOf(path, base))
  }

  /** Drops the backup, which is of no use any more. */
  dropBackup(path: string): void {
    this.#options.reader.dropBackup(path)
  }

  /**
   * Stores the old version again after the save was refused, since the path may be empty now. Throws temporary errors, so that the
   * attempt is repeated. Does nothing if the old version is not here, is refused as well, or another client was faster.
   */
  async putBack(intention: Intention, removed: RemoteFile | undefined, signal: AbortSignal): Promise<void> {
    const { path, base, sentDigests } = intention
    const { spool, reader, log } = this.#options
    if (base === undefined) return
    const version = versionOf(path, base)
    const content = spool.createTemporary()
    try {
      if (!(await content.fill((fd) => reader.copyBackup(version, fd)))) return
      await content.learnDigest()
      // So that it is not taken for another client's version if the answer is lost, or after a power cut.
      if (content.digest !== undefined) intention.sentDigests = withDigest(sentDigests, content.digest)
      this.#options.save(intention)
      await this.#options.secure(intention)
      const record = await this.#upload(path, content, removed?.mimetype, signal)
      intention.base = fingerprintOf(record)
      reader.moved(backupOf(version), versionOf(path, intention.base))
      this.#options.say({ kind: 'standsOn', intention })
      log.warn({ path }, 'refused by the service: what stood there before is put back')
    } catch (error) {
      // The document there may be this very version, if it was sent twice on the way.
      if (error instanceof ApiError && error.status === 409) return
      if (isWorthRetrying(error)) throw error
      log.error({ path, error: String(error) }, 'what stood there before is refused as well')
    } finally {
      await spool.remove(content.id)
    }
    intention.sentDigests = sentDigests
    this.#options.save(intention)
  }

  async #upload(
    path: string,
    content: SpoolFile,
    replacedType: string | undefined,
    signal: AbortSignal,
  ): Promise<RemoteFile> {
    const { files, timers } = this.#options
    const mimetype = sendableType(replacedType) ?? (await this.#options.ask.mimetypeOf(path, content))
    const bytes = { kind: 'bytes', size: content.size, open: () => content.stream() } as const
    const record = await storeAt({ files, timers, path, signal }, mimetype, bytes)
    return await completeRecord(files, path, record, signal)
  }
}
