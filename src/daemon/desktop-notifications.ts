// Desktop notifications of a drive's notices (fs/notice.ts), shown by the command `notify-send` (libnotify). Many notices of one
// kind become one notification. Without a desktop or the command, none is shown: the log and `docmount status` say the same.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { formatBytes } from '../amounts.ts'
import type { Notice } from '../fs/notice.ts'
import { runTool } from '../run-tool.ts'

/** After a notification, further notices of its kind are only counted for so long, and then shown as one. */
const pauseMs = 60_000
/** Notices of the kinds below are gathered for so long before the first is shown. */
const gatherMs = 2_000
/** Kinds of notices that come once for each document, and so many at once if files are dragged in together. */
const kindsInBursts: ReadonlySet<Notice['kind']> = new Set([
  'conflict', 'damaged', 'lost', 'refused', 'unkept', 'unsupported',
]) // prettier-ignore
/** Timeout of `notify-send`. */
const limitMs = 5_000

export type Send = (title: string, body: string) => void

/** A time in which notices of one kind are not shown, but counted. */
interface Pause {
  /** Notices not shown yet. */
  count: number
  latest: Notice
}

/** Returns a function to call with each notice, which shows it by `send`, at once or together with others of its kind. */
export function desktopNotifications(project: string, send: Send = notifySend): (notice: Notice) => void {
  const pauses = new Map<Notice['kind'], Pause>()

  /** `more`: number of other notices of this kind that are not shown themselves. */
  function show(notice: Notice, more: number): void {
    const rest = more === 0 ? '' : ` And ${more} more: docmount status names them.`
    send(`docmount: ${project}`, wordsFor(notice) + rest)
    pause(notice, 0, pauseMs)
  }

  /** Begins a pause of `ms` in which `count` notices, the latest of them `latest`, wait already. */
  function pause(latest: Notice, count: number, ms: number): void {
    pauses.set(latest.kind, { count, latest })
    setTimeout(() => {
      const ended = pauses.get(latest.kind)
      pauses.delete(latest.kind)
      if (ended !== undefined && ended.count > 0) show(ended.latest, ended.count - 1)
    }, ms).unref()
  }

  return (notice) => {
    const known = pauses.get(notice.kind)
    if (known !== undefined) {
      known.count++
      known.latest = notice
    } else if (kindsInBursts.has(notice.kind)) pause(notice, 1, gatherMs)
    else show(notice, 0)
  }
}

function wordsFor(notice: Notice): string {
  switch (notice.kind) {
    case 'away':
      return 'The service cannot be reached. What you save stays on this machine, and is sent when the service is back.'
    case 'back':
      return 'The service is back.'
    case 'bug':
      return 'A fault of docmount ended the drive. What you saved is kept on this machine, and is sent when the drive is mounted again: docmount status says how.'
    case 'done':
      return 'Everything that was kept on this machine has been sent to the service.'
    case 'keyRefused':
      return 'The service no longer accepts the API key. What you save stays on this machine. To give a new key, run docmount login.'
    case 'diskFull':
      return 'The disk of this machine is full, and something was not saved. Make room, then save it again.'
    case 'sending':
      return `The drive is unmounted, but ${amountOf(notice)} still on the way to the service. Leave this machine on until everything is sent.`
    case 'left':
      return `${amountOf(notice)} not sent. Everything is kept on this machine, and is sent when the drive is mounted again.`
    case 'refused':
      return `${notice.path} was refused: ${notice.reason}. ${notice.isKept ? 'It is kept on this machine: docmount retry sends it again.' : 'docmount status says what to do.'}`
    case 'unkept':
      return `${notice.path} is not safe: the disk of this machine refused it (${notice.reason}). Make room; docmount tries again automatically.`
    case 'unsupported':
      return `${notice.path} could not be saved: the service takes no ${notice.what}. Save it in another format, such as PDF.`
    case 'conflict':
      return `Someone else changed ${notice.path} too. Their version is kept beside yours: ${notice.copy}.`
    case 'lost':
      return `Content of ${notice.path ?? 'an unknown document'} was found and kept. To take it out, run docmount recover --lost.`
    case 'untilLogin':
      return `The drive stays unmounted until the next login. To stop mounting it then, run docmount service remove ${notice.project}.`
    case 'burst':
    case 'damaged':
      return `${notice.sentence}.`
  }
}

function amountOf({ changes, bytes }: { changes: number; bytes: number }): string {
  const isOne = changes === 1
  return `${isOne ? '1 change' : `${changes} changes`} (${formatBytes(bytes)}) ${isOne ? 'is' : 'are'}`
}

/** Shows a notification. Without a desktop or `notify-send`, none. */
export function notifySend(title: string, body: string): void {
  if (!hasSessionBus()) return
  const markupFree = body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const args = ['--app-name=docmount', '--icon=folder-remote', '--', title, markupFree]
  // Without the command or a desktop, the log has it.
  void runTool('notify-send', args, { limitMs }).catch(() => {})
}

/** True if this user's programs can talk to a desktop, if there is one. */
export function hasSessionBus(): boolean {
  const { DBUS_SESSION_BUS_ADDRESS: bus, XDG_RUNTIME_DIR: runtime } = process.env
  return (bus ?? '') !== '' || (runtime !== undefined && existsSync(join(runtime, 'bus')))
}
