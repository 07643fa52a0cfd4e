// Implements `docmount get`: downloads one document to a file or stdout, or a folder with everything in it.

import { once } from 'node:events'
import { mkdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import PQueue from 'p-queue'
import type { Files, FolderListing, RemoteFile } from '../api/types.ts'
import { CommandError } from './command-error.ts'
import { type ServiceOptions, withClient } from './connect.ts'
import { type Progress, startProgress } from './progress.ts'
import { downloadDocument } from './download-document.ts'
import { isDownloaded, downloadToFile } from './download-to-file.ts'
import { withReport, type TransferReport, Transfers, transfersAtOnce } from './transfers.ts'
import { UsageError } from './usage-error.ts'

export interface GetOptions extends ServiceOptions {
  readonly skipExisting?: boolean
  readonly quiet?: boolean
  readonly json?: boolean
}

/** Throws ApiError, NetworkError, CommandError, UsageError, and errors of the local disk. */
export async function runGet(
  project: string,
  path: string,
  local: string | undefined,
  options: GetOptions,
): Promise<void> {
  if (local === '-' && options.json === true)
    throw new UsageError('standard output takes the document or JSON, not both')
  await withReport(options, 'fetched', (report) => getInto(project, path, local, options, report))
}

async function getInto(
  project: string,
  path: string,
  local: string | undefined,
  options: GetOptions,
  report: TransferReport,
): Promise<void> {
  await withClient(project, options, async (client, signal) => {
    const files = client.files(project)
    const get: Get = { files, signal, options, report }
    const record = await files.get(path, { signal })
    if (record.kind === 'folder') {
      if (local === '-') throw new UsageError(`${path} is a folder; only one document fits standard output`)
      const folder = join(local ?? '.', basename(path) || project)
      await getFolder(get, path.replace(/\/+$/, ''), record, folder)
      return
    }
    const progress = startProgress(path, { total: record.size, isQuiet: options.quiet })
    try {
      if (local === '-') await toStdout(get, path, record, progress)
      else await toFile(get, path, record, local ?? '.', progress)
    } finally {
      progress.end()
    }
  })
}

interface Get {
  readonly files: Files
  readonly signal: AbortSignal
  readonly options: GetOptions
  readonly report: TransferReport
}

async function toStdout(
  { files, signal }: Get,
  path: string,
  record: RemoteFile,
  progress: Progress,
): Promise<void> {
  let stdoutError: NodeJS.ErrnoException | undefined
  process.stdout.on('error', (error) => (stdoutError = error))
  try {
    await downloadDocument({
      files,
      path,
      record,
      signal,
      async write(chunk) {
        if (stdoutError !== undefined) throw stdoutError
        if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
      },
      onBytes: (count) => progress.add(count),
    })
  } catch (error) {
    // EPIPE: the reader needed only the beginning, as `head` does.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

async function toFile(
  { files, signal, options, report }: Get,
  path: string,
  record: RemoteFile,
  local: string,
  progress: Progress,
): Promise<void> {
  const isFolder = await stat(local).then(
    (stats) => stats.isDirectory(),
    () => local.endsWith('/'),
  )
  const target = isFolder ? join(local, basename(path)) : local
  if (options.skipExisting === true && (await isDownloaded(record, target))) {
    if (options.quiet !== true) console.error(`1 skipped: ${target} is there already`)
    report.skipped.push({ path })
    return
  }
  await downloadToFile({ files, path, record, signal, onBytes: (count) => progress.add(count) }, target)
  report.done.push({ path, bytes: record.size })
}

/** `path` has no slash at its end, so it is empty for the root. */
async function getFolder(get: Get, path: string, record: FolderListing, local: string): Promise<void> {
  const { files, signal, options, report } = get
  const isQuiet = options.quiet === true
  const progress = startProgress('fetching', { isQuiet })
  const transfers = new Transfers({ done: 'fetched', isQuiet, progress, signal, report })
  const listings = new PQueue({ concurrency: transfersAtOnce })
  signal.addEventListener('abort', () => listings.clear(), { once: true })

  async function getEntries(at: string, listing: FolderListing, folder: string): Promise<void> {
    await mkdir(folder, { recursive: true })
    if (listing.odd.leftOut > 0)
      transfers.fail(at, new CommandError(`${listing.odd.leftOut} entries have names no file can have`))
    for (const entry of listing.entries) {
      const remote = `${at}/${entry.name}`
      const target = join(folder, entry.name)
      if (entry.kind === 'folder') {
        void listings.add(() => getSubfolder(remote, target))
        continue
      }
      transfers.add(remote, entry.size, async () => {
        if (options.skipExisting === true && (await isDownloaded(entry, target))) return 'skipped'
        const onBytes = (count: number): void => progress.add(count)
        await downloadToFile({ files, path: remote, record: entry, signal, onBytes }, target)
        return 'done'
      })
    }
  }

  async function getSubfolder(remote: string, target: string): Promise<void> {
    try {
      const listing = await files.get(remote, { signal })
      if (listing.kind === 'file') throw new CommandError(`${remote} was a folder and is a document now`)
      await getEntries(remote, listing, target)
    } catch (error) {
      transfers.fail(remote, error)
    }
  }

  try {
    await getEntries(path, record, local)
    await listings.onIdle()
    await transfers.finish()
  } finally {
    progress.end()
  }
}
