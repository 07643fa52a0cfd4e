// `docmount put`: uploads local files and folders, or what comes through stdin.

import type { Command } from 'commander'
import type { Files, Upload } from '../../api/types.ts'
import { DaemonError } from '../../daemon/daemon-error.ts'
import { type ServiceOptions, baseUrlOption, withClient } from '../connect.ts'
import type { LocalDocument } from '../local-document.ts'
import { localTree, type LocalFile } from '../local-tree.ts'
import { startProgress } from '../output.ts'
import { UsageError } from '../usage-error.ts'

interface PutOptions extends ServiceOptions {
  readonly mimetype?: string
  readonly replace?: boolean
}

const help = `
The type follows the name's extension. Folders on the way are made. The service cannot overwrite:
--replace deletes the old document first.

Examples:
  $ docmount put acme report.pdf /reports/2026.pdf
  $ docmount put acme report.pdf /reports/              under its own name
  $ docmount put acme invoices *.csv /2026/             several, folders with everything in them
  $ pg_dump shop | docmount put acme - /dumps/shop.sql --replace`

export function register(program: Command): void {
  program
    .command('put')
    .summary('upload a document')
    .description('Uploads local files and folders to a path in the project.')
    .argument('<project>', 'name of the project')
    .usage('[options] <project> <local...> <path>')
    .argument(
      '<local-and-path...>',
      'files and folders (- is standard input), then the path; a / at its end keeps the names',
    )
    .option('--mimetype <type>', 'send it as this type, whatever its name says')
    .option('--replace', 'replace a document that is there')
    .option(...baseUrlOption)
    .addHelpText('after', help)
    .action(async (project: string, words: string[], options: PutOptions) => {
      const path = words.pop() ?? ''
      const documents = await documentsOf(words, path)
      await withClient(project, options, async (client, signal) => {
        const files = client.files(project)
        for (const document of documents) await putOne(files, document, options, signal)
      })
      if (documents.length > 1) console.error(`${documents.length} documents uploaded`)
    })
}

/** What goes where. Throws UsageError where the words do not say. */
async function documentsOf(locals: readonly string[], path: string): Promise<readonly LocalFile[]> {
  const [local, ...others] = locals
  if (local === undefined) throw new UsageError('give a file and the path it goes to')
  if (others.length === 0 && !path.endsWith('/')) return [{ local, path }]
  if (locals.includes('-')) throw new UsageError('give the path with a name: standard input has none')
  if (!path.endsWith('/')) throw new UsageError(`several files go into a folder: write ${path}/`)
  return localTree(locals, path)
}

async function putOne(
  files: Files,
  { local, path }: LocalFile,
  options: PutOptions,
  signal: AbortSignal,
): Promise<void> {
  const { mimetypeFor, openLocal, watched } = await import('../local-document.ts')
  const filename = path.slice(path.lastIndexOf('/') + 1)
  const document = await openLocal(local, signal)
  let isOnlyCopy = false
  const progress = startProgress(filename, { total: document.content.size })
  try {
    const mimetype = await mimetypeFor(options.mimetype, filename, document)
    const content = watched(document.content, (done) => progress.update(done))
    await put(files, path, { mimetype, filename, content }, options.replace === true, signal, () => {
      isOnlyCopy = true
    })
    isOnlyCopy = false
  } catch (error) {
    throw isOnlyCopy ? keptError(path, document, error) : error
  } finally {
    progress.end()
    if (!isOnlyCopy) await document.discard()
  }
}

async function put(
  files: Files,
  path: string,
  upload: Upload,
  mayReplace: boolean,
  signal: AbortSignal,
  onDeleted: () => void,
): Promise<void> {
  const { ApiError } = await import('../../api/errors.ts')
  try {
    await files.upload(path, upload, { signal })
    return
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    if (!mayReplace) {
      throw new ApiError(error, 409, `${error.errorMessage}; --replace puts this document in its place`)
    }
  }
  // Deleting a folder would take everything in it along.
  const found = await files.get(path, { signal })
  if (found.kind === 'folder') throw new DaemonError(`${path} is a folder; a document cannot replace it`)
  await files.delete(path, { signal })
  onDeleted()
  await files.upload(path, upload, { signal })
}

function keptError(path: string, document: LocalDocument, error: unknown): DaemonError {
  const reason = error instanceof Error ? error.message : String(error)
  return new DaemonError(
    `the old ${path} is deleted, and the new one could not be sent: ${reason}; it is kept in ${document.file}`,
    { cause: error, isTemporary: true },
  )
}
