// Implements `docmount put`: uploads one document, or several files and folders.

import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { ApiError } from '../api/errors.ts'
import type { Files, RemoteFile } from '../api/types.ts'
import { type ServiceOptions, withClient } from './connect.ts'
import { parseMimetype, statLocal } from './local-document.ts'
import { localTree } from './local-tree.ts'
import { startProgress } from './progress.ts'
import { type PutDocument, putDocument } from './put-document.ts'
import { withReport, type TransferReport, Transfers } from './transfers.ts'
import { UsageError } from './usage-error.ts'
import { folderOf, nameOf } from '../path.ts'

export interface PutOptions extends ServiceOptions {
  readonly mimetype?: string
  readonly replace?: boolean
  readonly skipExisting?: boolean
  readonly quiet?: boolean
  readonly json?: boolean
}

/** `args` are local files and folders, then the path. Throws UsageError, CommandError, and what `putDocument` throws. */
export async function runPut(project: string, args: readonly string[], options: PutOptions): Promise<void> {
  await withReport(options, 'stored', (report) => putAll(project, args, options, report))
}

async function putAll(
  project: string,
  args: readonly string[],
  options: PutOptions,
  report: TransferReport,
): Promise<void> {
  const locals = args.slice(0, -1)
  const path = args.at(-1) ?? ''
  const [local] = locals
  if (local === undefined) throw new UsageError('give a file and the path it goes to')
  if (locals.includes('-') && (locals.length > 1 || path.endsWith('/')))
    throw new UsageError('give the path with a name: standard input has none')
  if (local === '-' && options.skipExisting === true)
    throw new UsageError('--skip-existing takes files: standard input has no time to compare')
  if (locals.length > 1 && !path.endsWith('/'))
    throw new UsageError(`several files go into a folder: write ${path}/`)
  if (options.mimetype !== undefined) parseMimetype(options.mimetype)
  const isLocalFolder = local !== '-' && (await isFolder(local))
  if (isLocalFolder && !path.endsWith('/'))
    throw new UsageError(
      `${local} is a folder: with a slash at its end, ${path}/ takes it and everything in it`,
    )
  const isTree = path.endsWith('/') && (locals.length > 1 || isLocalFolder)
  await withClient(project, options, async (client, signal) => {
    const put = {
      files: client.files(project),
      mimetype: options.mimetype,
      mayReplace: options.replace === true,
      signal,
    }
    if (isTree) await putTree(put, locals, path, options, report)
    else await putOne(put, local, path.endsWith('/') ? path + basename(local) : path, options, report)
  })
}

async function isFolder(local: string): Promise<boolean> {
  return await stat(local).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
}

type Put = Omit<PutDocument, 'local' | 'path' | 'onBytes'>

async function putOne(
  put: Put,
  local: string,
  path: string,
  options: PutOptions,
  report: TransferReport,
): Promise<void> {
  if (
    options.skipExisting === true &&
    (await isUploaded(listings(put.files, put.signal), path, await statLocal(local)))
  ) {
    if (options.quiet !== true) console.error(`1 skipped: ${path} is there already`)
    report.skipped.push({ path })
    return
  }
  const progress = startProgress(path, { isQuiet: options.quiet })
  let size: number | undefined
  try {
    await putDocument({
      ...put,
      local,
      path,
      onSize: (bytes) => {
        size = bytes
        progress.expect(bytes)
      },
      onBytes: (count) => progress.add(count),
    })
    report.done.push({ path, bytes: size })
  } finally {
    progress.end()
  }
}

async function putTree(
  put: Put,
  locals: readonly string[],
  folder: string,
  options: PutOptions,
  report: TransferReport,
): Promise<void> {
  const { files, unreadable } = await localTree(locals, folder)
  const isQuiet = options.quiet === true
  const progress = startProgress('sending', { isQuiet })
  const transfers = new Transfers({ done: 'stored', isQuiet, progress, signal: put.signal, report })
  try {
    for (const { path, error } of unreadable) transfers.fail(path, error)
    const list = listings(put.files, put.signal)
    for (const { local, path, stats } of files) {
      transfers.add(path, stats.size, async () => {
        if (options.skipExisting === true && (await isUploaded(list, path, stats))) return 'skipped'
        await putDocument({ ...put, local, path, onBytes: (count) => progress.add(count) })
        return 'done'
      })
    }
    await transfers.finish()
  } finally {
    progress.end()
  }
}

type Listings = (folder: string) => Promise<ReadonlyMap<string, RemoteFile>>

/** Returns a function that lists a folder's documents by name, and asks the service once per folder. A missing folder is empty. */
function listings(files: Files, signal: AbortSignal): Listings {
  const asked = new Map<string, Promise<ReadonlyMap<string, RemoteFile>>>()
  async function ask(folder: string): Promise<ReadonlyMap<string, RemoteFile>> {
    const found = await files.get(folder, { signal }).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    })
    const entries = found?.kind === 'folder' ? found.entries : []
    return new Map(entries.flatMap((entry) => (entry.kind === 'file' ? [[entry.name, entry] as const] : [])))
  }
  return (folder) => {
    const known = asked.get(folder) ?? ask(folder)
    asked.set(folder, known)
    return known
  }
}

/** True if the document has the file's size, and is newer than the file. The service gives nothing else to compare. */
async function isUploaded(
  list: Listings,
  path: string,
  local: Pick<Stats, 'size' | 'mtimeMs'>,
): Promise<boolean> {
  const found = (await list(folderOf(path))).get(nameOf(path))
  const storedAtMs = Date.parse(found?.modifiedAt ?? '')
  return found?.size === local.size && storedAtMs >= Math.floor(local.mtimeMs)
}
