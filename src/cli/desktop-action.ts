// Implements `docmount desktop run`: an entry of a file manager's menu, for several documents at once. Results are shown as a
// desktop notification, since a file manager does not show this program's output.

import { text as textOf } from 'node:stream/consumers'
import { notifySend } from '../daemon/desktop-notifications.ts'
import type { PathOnMount } from '../daemon/find-mount.ts'
import type { Link } from '../fs/status.ts'
import { nameOf } from '../path.ts'
import { printable } from '../printable.ts'
import { runTool } from '../run-tool.ts'
import { openOnDesktop } from '../ui/open-on-desktop.ts'
import { startUi } from '../ui/server.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { localTime } from '../local-time.ts'
import { noRoomLine } from './pin-text.ts'
import { placeLine } from './place-text.ts'
import { cliParts } from './run-ui.ts'
import type { DesktopAction } from './desktop-actions.ts'

/** How long the page waits for a browser, or for one that was closed to come back. */
const unusedMs = 60_000
/** Lines of text that a notification has room for. */
const mostLines = 4

/**
 * Performs an action at one path. Resolves with a line for the notification; undefined if the whole action has one line at its end
 * (`doneWords`, or that of the links), or none (`versions`). Only `link` adds to `links`. Errors have messages that may be shown.
 */
type Perform = (path: PathOnMount, links: Link[]) => Promise<string | undefined>

const performers: Readonly<Record<DesktopAction, Perform>> = {
  async keep({ found, path }) {
    const answer = await askDrive(found, 'pin', { path })
    if (answer.kind === 'no-room') throw new Error(noRoomLine(path, answer))
    return undefined
  },
  async free({ found, path }) {
    await askDrive(found, 'free', { path })
    return undefined
  },
  async send({ found, path }) {
    await askDrive(found, 'retry', { path })
    return undefined
  },
  async status({ found, path }) {
    const { place, unsent } = await askDrive(found, 'status', { path })
    const below = unsent.filter((change) => change.path !== path).length
    const more = below === 0 ? '' : `; ${below} not sent in it`
    return place === undefined ? undefined : placeLine(nameOf(path) || '/', place) + more
  },
  async versions(place) {
    await showVersions(place)
    return undefined
  },
  async link({ found, path }, links) {
    links.push(await askDrive(found, 'link', { path }))
    return undefined
  },
}

const doneWords: Readonly<Partial<Record<DesktopAction, string>>> = {
  keep: 'stays on this computer',
  free: 'takes no room on this computer any more',
  send: 'is sent now, if anything of it was waiting',
}

/**
 * Performs the action at all paths; without arguments, at those on standard input. Links are printed on standard output unless
 * `toClipboard`, for menus that fill the clipboard themselves. Sets the exit code if a path failed.
 */
export async function runDesktopAction(
  action: DesktopAction,
  args: readonly string[],
  { toClipboard }: { toClipboard: boolean },
): Promise<void> {
  const paths =
    args.length > 0 ? args : (await textOf(process.stdin)).split('\0').filter((path) => path !== '')
  const links: Link[] = []
  const lines: string[] = []
  const failed: string[] = []
  if (action === 'versions' && paths.length > 1) {
    notifySend('docmount', 'Choose one document or folder')
    process.exitCode = exitCodes.failure
    return
  }
  for (const path of paths) {
    try {
      const line = await performers[action](await findDrive(path), links)
      if (line !== undefined) lines.push(line)
    } catch (error) {
      failed.push(`${nameOf(path)}: ${(error as Error).message}`)
    }
  }
  const done = paths.length - failed.length
  const words = doneWords[action]
  if (action === 'link') lines.push(...(await passOnLinks(links, toClipboard)))
  else if (words !== undefined && done > 0) lines.push(`${subject(paths, done)} ${words}`)
  const told = [...failed, ...lines]
  if (told.length > 0) notifySend('docmount', shortened(told))
  if (failed.length > 0) process.exitCode = exitCodes.failure
}

/** Shows the page with what was deleted and replaced at and under a path, until it is closed. */
async function showVersions(shown: PathOnMount): Promise<void> {
  // A working folder on a drive would keep that drive busy.
  process.chdir('/')
  const page = await startUi({ port: 0, copyTo: undefined, shown, cli: cliParts })
  try {
    await openOnDesktop(page.address)
    await page.unused(unusedMs)
  } finally {
    await page.close()
  }
}

function subject(paths: readonly string[], done: number): string {
  return paths.length === 1 ? nameOf(paths[0] ?? '') : `Each of ${done} documents and folders`
}

/**
 * Prints the links, or copies them to the clipboard, and returns lines for the notification. An address gives access to a document,
 * so it is passed on through pipes only, and is never part of a notification.
 */
async function passOnLinks(links: readonly Link[], toClipboard: boolean): Promise<string[]> {
  const [first] = links
  if (first === undefined) return []
  const text = links.map(({ url }) => url).join('\n')
  if (!toClipboard) console.log(printable(text.replaceAll('\n', ' ')).replaceAll(' ', '\n'))
  else if (!(await copied(text))) return ['The link is not copied: install wl-clipboard or xclip.']
  return [`The link can be pasted; it holds until ${localTime(first.until)}`]
}

/** Copies the text to the clipboard by the first tool that works. False if there is none. */
async function copied(text: string): Promise<boolean> {
  const tools = [
    ['wl-copy'],
    ['xclip', '-selection', 'clipboard'],
    ['xsel', '--clipboard', '--input'],
  ] as const
  for (const [tool, ...args] of tools) {
    const ended = await runTool(tool, args, { input: text, limitMs: 3_000 }).catch(() => undefined)
    if (ended?.code === 0) return true
  }
  return false
}

function shortened(lines: readonly string[]): string {
  const more = lines.length - mostLines
  return [...lines.slice(0, mostLines), ...(more > 0 ? [`and ${more} more`] : [])].map(printable).join('\n')
}
