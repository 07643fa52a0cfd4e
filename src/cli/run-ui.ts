// Work of `docmount ui`: serves the page until Ctrl-C, and opens it where there is a desktop.

import { resolve } from 'node:path'
import { DaemonError } from '../daemon/daemon-error.ts'
import { findLeftFolders } from '../daemon/left-behind.ts'
import { openOnDesktop } from '../ui/open-on-desktop.ts'
import { startUi } from '../ui/server.ts'
import { describeDead } from './find-drive.ts'
import { ensureLocalFolder } from './local-folder.ts'
import { describeLeft } from './status-text.ts'

export interface UiCommandOptions {
  readonly port: number
  readonly open: boolean
  readonly copyTo?: string
}

/** Resolves when the person has had enough. Throws a DaemonError where nobody can listen at the port. */
export async function runUi({ port, open, copyTo }: UiCommandOptions): Promise<void> {
  const folder = copyTo === undefined ? undefined : await ensureLocalFolder(resolve(copyTo))
  // It never holds a drive by standing in it.
  process.chdir('/')
  const server = await startUi({
    port,
    copyTo: folder,
    words: { describeDead, left: async () => (await findLeftFolders()).map(describeLeft) },
  }).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new DaemonError(`another program listens at port ${port}; leave --port out`, { cause: error })
    if (code === 'EACCES') throw new DaemonError(`this user may not listen at port ${port}`, { cause: error })
    throw error
  })
  // Before anybody can know that it is there.
  const enough = ended()
  console.log(`${server.address}\nfor you on this machine, until Ctrl-C; the token is for your browser alone`)
  if (open) openBrowser(server.address)
  await enough
  await server.close()
}

/** Quietly nothing where there is no desktop: the address is printed. */
function openBrowser(address: string): void {
  const { DISPLAY: x11 = '', WAYLAND_DISPLAY: wayland = '' } = process.env
  if (x11 === '' && wayland === '') return
  void openOnDesktop(address).catch(() => {})
}

function ended(): Promise<void> {
  return new Promise((end) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => end())
  })
}
