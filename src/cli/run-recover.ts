// Implements `docmount recover PATH` and `--lost`. Symbolic links in the destination are resolved here, because the daemon would
// hang if it followed a link into its own mount.

import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { PathOnMount } from '../daemon/find-mount.ts'
import { CommandError } from './command-error.ts'
import { ensureLocalFolder } from './local-folder.ts'
import { askDrive, findDrive, interruptSignal } from './find-drive.ts'
import { startProgress } from './progress.ts'

const pollMs = 200

export async function runRecover(
  path: string,
  destination: string,
  { isQuiet, onCopied }: { readonly isQuiet: boolean; readonly onCopied: (file: string) => void },
): Promise<void> {
  const place = await findDrive(path)
  const target = await resolveDestination(destination, basename(path))
  const signal = interruptSignal()
  const total = await sizeOf(place, path, signal)
  const progress = startProgress(`copying ${basename(path)}`, { isQuiet, total })
  // The daemon writes the file and reports nothing meanwhile, so the file's size is the progress.
  const updateProgress = async (): Promise<void> => progress.set((await stat(target)).size, total)
  const timer = setInterval(() => void updateProgress().catch(() => {}), pollMs)
  const input = { path: place.path, destination: target }
  await askDrive(place.found, 'recover', input, { signal }).finally(() => {
    clearInterval(timer)
    progress.end()
  })
  onCopied(target)
}

/** Returns the document's size, if it is known. Throws CommandError for a folder, and if nothing is there. */
async function sizeOf(
  { found, path }: PathOnMount,
  named: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { place } = await askDrive(found, 'status', { path }, { signal })
  if (place?.state === 'folder')
    throw new CommandError(
      `${named} is a folder: name a document in it, copy it with cp -r, or take everything that is not sent with ` +
        'docmount recover --all FOLDER',
    )
  if (place?.state === 'absent')
    throw new CommandError(`${named} is neither in the service nor on this machine`)
  if (place?.state === 'stored' || place?.state === 'here') return place.bytes
  return place?.state === 'unsent' || place?.state === 'refused' ? place.unsent?.bytes : undefined
}

/** Moves everything that is in lost+found of the path's drive to `destination`. */
export async function runRecoverLost(
  path: string,
  destination: string,
  onCopied: (file: string) => void,
): Promise<void> {
  const { found } = await findDrive(path)
  const folder = await ensureLocalFolder(destination)
  const answer = await askDrive(found, 'recoverLost', { destination: folder }, { signal: interruptSignal() })
  for (const file of answer.files) onCopied(file)
}

/** Returns the path of the new file: in a folder that exists, under the document's name, as cp does. */
async function resolveDestination(destination: string, name: string): Promise<string> {
  const absolute = resolve(destination)
  const found = await stat(absolute).catch(() => undefined)
  if (found?.isDirectory() === true) return join(await realpath(absolute), name)
  if (found !== undefined) throw new CommandError(`${destination} exists already; choose another name`)
  const folder = await realpath(dirname(absolute)).catch((error: unknown) => {
    throw new CommandError(`the folder ${dirname(absolute)} does not exist`, { cause: error })
  })
  return join(folder, basename(absolute))
}
