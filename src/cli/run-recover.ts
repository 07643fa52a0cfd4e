// Work of `docmount recover`. The true place of the destination is found here: the daemon must not follow a link that
// may lead into its own mount.

import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { PathOnMount } from '../daemon/find-mount.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { ensureLocalFolder } from './local-folder.ts'
import { askDrive, findDrive, interruptSignal } from './find-drive.ts'
import { startProgress } from './progress.ts'

const lookEveryMs = 200

export async function runRecover(
  path: string,
  destination: string,
  { isQuiet, tell }: { readonly isQuiet: boolean; readonly tell: (file: string) => void },
): Promise<void> {
  const place = await findDrive(path)
  const target = await resolveDestination(destination, basename(path))
  const signal = interruptSignal()
  const total = await sizeOf(place, path, signal)
  const progress = startProgress(`copying ${basename(path)}`, { isQuiet, total })
  // The daemon writes the very file: how long it is says how far it is.
  const look = async (): Promise<void> => progress.set((await stat(target)).size, total)
  const timer = setInterval(() => void look().catch(() => {}), lookEveryMs)
  const input = { path: place.path, destination: target }
  await askDrive(place.found, 'recover', input, { signal }).finally(() => {
    clearInterval(timer)
    progress.end()
  })
  tell(target)
}

/** Undefined where nobody can tell. Throws DaemonError for what is no document. */
async function sizeOf(
  { found, path }: PathOnMount,
  named: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { place } = await askDrive(found, 'status', { path }, { signal })
  if (place?.state === 'folder')
    throw new DaemonError(
      `${named} is a folder: name a document in it, copy it with cp -r, or take everything that is not sent with ` +
        'docmount recover --all FOLDER',
    )
  if (place?.state === 'absent')
    throw new DaemonError(`${named} is neither in the service nor on this machine`)
  if (place?.state === 'stored' || place?.state === 'here') return place.bytes
  return place?.state === 'unsent' || place?.state === 'refused' ? place.unsent?.bytes : undefined
}

/** Everything in lost+found of the drive that the path is on. */
export async function runRecoverLost(
  path: string,
  destination: string,
  tell: (file: string) => void,
): Promise<void> {
  const { found } = await findDrive(path)
  const folder = await ensureLocalFolder(destination)
  const answer = await askDrive(found, 'recoverLost', { destination: folder }, { signal: interruptSignal() })
  for (const file of answer.files) tell(file)
}

/** Into a folder the content goes under its own name, as cp does. */
async function resolveDestination(destination: string, name: string): Promise<string> {
  const absolute = resolve(destination)
  const found = await stat(absolute).catch(() => undefined)
  if (found?.isDirectory() === true) return join(await realpath(absolute), name)
  if (found !== undefined) throw new DaemonError(`${destination} exists already; choose another name`)
  const folder = await realpath(dirname(absolute)).catch((error: unknown) => {
    throw new DaemonError(`the folder ${dirname(absolute)} does not exist`, { cause: error })
  })
  return join(folder, basename(absolute))
}
