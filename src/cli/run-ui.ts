// Implements `docmount ui`: serves the page until Ctrl-C, and opens it in a browser if there is a desktop.

import { once } from 'node:events'
import { resolve } from 'node:path'
import { CommandError } from './command-error.ts'
import { openOnDesktop } from '../ui/open-on-desktop.ts'
import { startUi } from '../ui/server.ts'
import type { CliParts } from '../ui/page-data.ts'
import { describeDead, findDrive } from './find-drive.ts'
import { ensureLocalFolder } from './local-folder.ts'
import { takeKey } from './run-login.ts'
import { noRoomLine } from './pin-text.ts'
import { mount, unmounted } from './unmounted-drives.ts'

export interface UiCommandOptions {
  readonly port: number
  readonly open: boolean
  readonly copyTo?: string
  /** Path on a drive. */
  readonly versions?: string
  readonly untilStdinEnds?: boolean
}

/** Functions that the page and the command line share. */
export const cliParts: CliParts = { describeDead, unmounted, mount, takeKey, describeNoRoom: noRoomLine }

/** Resolves after SIGINT, SIGTERM or SIGHUP, or when standard input ends. Throws CommandError if the port cannot be listened at. */
export async function runUi({
  port,
  open,
  copyTo,
  versions,
  untilStdinEnds,
}: UiCommandOptions): Promise<void> {
  const folder = copyTo === undefined ? undefined : await ensureLocalFolder(resolve(copyTo))
  const shown = versions === undefined ? undefined : await findDrive(versions)
  // A working folder on a drive would keep that drive busy.
  process.chdir('/')
  const server = await startUi({ port, copyTo: folder, shown, cli: cliParts }).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new CommandError(`another program listens at port ${port}; leave --port out`, { cause: error })
    if (code === 'EACCES')
      throw new CommandError(`this user may not listen at port ${port}`, { cause: error })
    throw error
  })
  // Registered before the address is printed, so that no signal is missed.
  const stopped = stopSignal()
  console.log(`${server.address}\nfor you on this machine, until Ctrl-C; the token is for your browser alone`)
  if (open) openBrowser(server.address)
  await (untilStdinEnds === true ? Promise.race([stopped, once(process.stdin.resume(), 'close')]) : stopped)
  await server.close()
}

/** Does nothing without a desktop, and ignores errors: the address is printed anyway. */
function openBrowser(address: string): void {
  const { DISPLAY: x11 = '', WAYLAND_DISPLAY: wayland = '' } = process.env
  if (x11 === '' && wayland === '') return
  void openOnDesktop(address).catch(() => {})
}

function stopSignal(): Promise<void> {
  return new Promise((end) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => end())
  })
}
