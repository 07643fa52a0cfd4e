// Downloads one run of blocks by one Range request, resumed where it was cut. Every answer must be of the same version: the
// total size and the ETag are checked before a byte is used, so that bytes of two versions are never mixed.

import { NetworkError } from '../../api/errors.ts'
import { discardDownload } from '../../api/discard-download.ts'
import type { Download } from '../../api/types.ts'
import { BlockAssembler } from '../block.ts'
import type { Block } from '../block.ts'
import type { Cancellation } from './cancellation.ts'
import { attemptDownload } from './download-attempts.ts'
import type { DownloadSources } from './download-attempts.ts'
import { extentOf } from '../extent.ts'
import type { BlockRun } from '../extent.ts'
import type { Version } from '../fingerprint.ts'

/** The version to download, and the receiver of its bytes. */
export interface DownloadTarget {
  /** The version, which may change its path during the download: a document may be renamed. */
  version(): Version
  readonly sizeBytes: number
  /** Throws ESTALE where the answer, which was requested for the version `at`, is of another one. */
  checkAnswer(answer: Pick<Download, 'totalSize' | 'etag'>, at: Version): void
  /** Called with each block, in order, when its last byte is received. */
  give(block: number, bytes: Block): void
  /** True while no more is wanted: then `hold` is awaited before more is received. */
  isTooFar(): boolean
  /** Resolves when more is wanted. Calls `progressed` now and then: this silence is not the service's. */
  hold(progressed: () => void): Promise<void>
}

/** Resolves when the whole run was received. Throws ESTALE, EIO, ApiError, NetworkError, the cancellation's reason. */
export async function downloadRun(
  sources: DownloadSources,
  target: DownloadTarget,
  run: BlockRun,
  cancellation: Cancellation,
): Promise<void> {
  const assembler = new BlockAssembler(run, target.sizeBytes, (block, bytes) => target.give(block, bytes))
  const { offset, length } = extentOf(run, target.sizeBytes)
  const end = offset + length
  await attemptDownload(
    sources,
    () => target.version(),
    cancellation,
    async (url, { at, signal, progressed }) => {
      const { path } = at
      const from = assembler.position
      const range = { offset: from, length: end - from, sizeBytes: target.sizeBytes }
      const download = await sources.files.download(url, path, range, { signal })
      const { totalSize, etag } = download
      // An answer without a total size is held back, even its ETag, until its end has shown that it is this document.
      const held: Uint8Array[] | undefined = totalSize === undefined ? [] : undefined
      try {
        if (held === undefined) target.checkAnswer(download, at)
      } catch (error) {
        await discardDownload(download)
        throw error
      }
      await measured(sources, download.chunks, (chunk) => {
        progressed()
        if (held !== undefined) return void held.push(chunk)
        assembler.push(chunk)
        return target.isTooFar() ? target.hold(progressed) : undefined
      })
      if (held !== undefined) target.checkAnswer({ totalSize: target.sizeBytes, etag }, at)
      for (const chunk of held ?? []) assembler.push(chunk)
      if (!assembler.isComplete) {
        const detail = `the answer ended ${end - assembler.position} bytes before the end of the range`
        throw new NetworkError({ method: 'GET', path }, 'cut', detail)
      }
    },
  )
}

/** Measures the link by the bytes after the first chunk, and their time, without the time that `take` needs. */
async function measured(
  { link, world }: DownloadSources,
  chunks: AsyncIterable<Uint8Array>,
  take: (chunk: Uint8Array) => Promise<void> | undefined,
): Promise<void> {
  const now = world.clock.monotonic
  let bytes = 0
  let ms = 0
  let readyMs: number | undefined
  link.begin()
  try {
    for await (const chunk of chunks) {
      if (readyMs !== undefined && chunk.length > 0) {
        bytes += chunk.length
        ms += now() - readyMs
      }
      const wait = take(chunk)
      if (wait !== undefined) await wait
      readyMs = now()
    }
  } finally {
    link.end(bytes, ms)
  }
}
