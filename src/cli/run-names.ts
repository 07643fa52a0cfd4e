// Implements `docmount status --names`. The drive's daemon answers from what it knows, so no folder is read.

import type { NameStatus } from '../fs/status.ts'
import { printableJson } from '../printable.ts'
import { CommandError } from './command-error.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { exitWhenReaderCloses } from './lost-output.ts'
import { printJson, printTable } from './output.ts'
import { sentOf } from './unsent-text.ts'

export interface NamesOptions {
  readonly json?: boolean
  /** Prints each change until Ctrl-C. */
  readonly watch?: boolean
}

export async function runNames(path: string | undefined, options: NamesOptions): Promise<void> {
  const { found, path: inside } = await findDrive(path)
  if (options.watch === true) {
    exitWhenReaderCloses()
    const onProgress = (change: { names: readonly NameStatus[]; gone: readonly string[] }): void => {
      if (options.json === true) console.log(printableJson(JSON.stringify(change)))
      else printNames([...change.names.map(rowOf), ...change.gone.map((name) => [name, 'gone', '-', '', ''])])
    }
    await askDrive(found, 'folder', { path: inside, watch: true }, { onProgress })
    return
  }
  const folder = await askDrive(found, 'folder', { path: inside })
  if (options.json === true) return printJson({ mountpoint: found.mountpoint, ...folder })
  // `own` is the state of the path itself.
  if (folder.own === undefined)
    throw new CommandError(
      `${path ?? inside} is not known here: look at its folder first (ls), or see docmount status`,
    )
  if (folder.own.kind === 'file') return printNames([rowOf(folder.own)])
  printNames(folder.names.toSorted((one, other) => (one.name < other.name ? -1 : 1)).map(rowOf))
  if (!folder.isListed)
    console.error('docmount: the folder was not listed yet: there may be more (ls lists it)')
}

function printNames(rows: readonly (readonly string[])[]): void {
  printTable(['NAME', 'STATE', 'HERE', 'SENT', 'PROBLEM'], rows)
}

function rowOf({ name, kind, state, here, sentBytes, bytesToSend, problem = '' }: NameStatus): string[] {
  const sent = bytesToSend === 0 ? '' : sentOf({ sentBytes, bytes: bytesToSend })
  return [kind === 'folder' ? `${name}/` : name, state, here, sent, problem]
}
