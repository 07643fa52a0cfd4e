// `docmount get`: one document to a local file or to stdout.

import { once } from 'node:events'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Command } from 'commander'
import type { RemoteFile } from '../../api/types.ts'
import { DaemonError } from '../../daemon/daemon-error.ts'
import { type ServiceOptions, baseUrlOption, withClient } from '../connect.ts'
import type { SaveDocument } from '../save-document.ts'
import { startProgress } from '../output.ts'

const help = `
The local file appears when all of it is there, with the document's time. One that exists is replaced.

Examples:
  $ docmount get acme /invoices/a.pdf                 as ./a.pdf
  $ docmount get acme /invoices/a.pdf ~/Downloads
  $ docmount get acme /rows.csv - | head`

export function register(program: Command): void {
  program
    .command('get')
    .summary('download a document')
    .description('Downloads a document.')
    .argument('<project>', 'name of the project')
    .argument('<path>', 'path in the project')
    .argument('[local]', 'file or folder to put it in, - for standard output (default: here, under its name)')
    .option(...baseUrlOption)
    .addHelpText('after', help)
    .action(async (project: string, path: string, local: string | undefined, options: ServiceOptions) => {
      const { saveDocument } = await import('../save-document.ts')
      await withClient(project, options, async (client, signal) => {
        const files = client.files(project)
        const record = await files.get(path, { signal })
        if (record.kind === 'folder')
          throw new DaemonError(`${path} is a folder; docmount get takes one document`)
        const progress = startProgress(path, { total: record.size })
        let done = 0
        const save = (write: SaveDocument['write']): Promise<void> =>
          saveDocument({
            files,
            path,
            record,
            signal,
            async write(chunk) {
              await write(chunk)
              progress.update((done += chunk.length))
            },
          })
        try {
          await (local === '-' ? toStdout(save) : toFile(save, record, path, local ?? '.'))
        } finally {
          progress.end()
        }
      })
    })
}

type Save = (write: SaveDocument['write']) => Promise<void>

async function toStdout(save: Save): Promise<void> {
  let broken: NodeJS.ErrnoException | undefined
  process.stdout.on('error', (error) => (broken = error))
  try {
    await save(async (chunk) => {
      if (broken !== undefined) throw broken
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
    })
  } catch (error) {
    // Whoever read has seen enough, as `head` does.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}

async function toFile(save: Save, record: RemoteFile, path: string, local: string): Promise<void> {
  const isFolder = await stat(local).then(
    (stats) => stats.isDirectory(),
    () => local.endsWith('/'),
  )
  const target = isFolder ? join(local, basename(path)) : local
  const part = join(dirname(target), `.${basename(target)}.${process.pid}.part`)
  const file = await open(part, 'wx')
  try {
    await save(async (chunk) => {
      for (let written = 0; written < chunk.length;) {
        written += (await file.write(chunk, written)).bytesWritten
      }
    })
    const modifiedMs = Date.parse(record.modifiedAt ?? '')
    if (!Number.isNaN(modifiedMs)) await file.utimes(new Date(), new Date(modifiedMs))
    await file.close()
    await rename(part, target)
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(part, { force: true })
    throw error
  }
}
