// Notices as the desktop shows them, through its own command line tool (libnotify). Without a desktop, or without the tool,
// nothing happens: the log and `docmount status` say the same.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Notice } from '../fs/notice.ts'

/** At most one of a kind in this time; the others are counted, and told at its end. */
const pauseMs = 60_000
const limitMs = 5_000

export type Send = (title: string, body: string) => void

interface Pause {
  count: number
  latest: Notice
}

/** Tells of each notice, by `send`; a burst of one kind is two notifications. */
export function desktopNotifications(project: string, send: Send = notifySend): (notice: Notice) => void {
  const pauses = new Map<Notice['kind'], Pause>()

  function show(notice: Notice, more: number): void {
    const rest = more === 0 ? '' : ` And ${more} more: docmount status names them.`
    send(`docmount: ${project}`, wordsFor(notice) + rest)
    pauses.set(notice.kind, { count: 0, latest: notice })
    setTimeout(() => {
      const pause = pauses.get(notice.kind)
      pauses.delete(notice.kind)
      if (pause !== undefined && pause.count > 0) show(pause.latest, pause.count - 1)
    }, pauseMs).unref()
  }

  return (notice) => {
    const pause = pauses.get(notice.kind)
    if (pause === undefined) show(notice, 0)
    else {
      pause.count++
      pause.latest = notice
    }
  }
}

function wordsFor(notice: Notice): string {
  switch (notice.kind) {
    case 'away':
      return 'The service is out of reach. What you save is kept on this machine and sent when it is back.'
    case 'back':
      return 'The service is back.'
    case 'refused':
      return `${notice.path} was refused: ${notice.reason}. It is kept on this machine: docmount retry sends it again.`
    case 'conflict':
      return `Somebody else changed ${notice.path} too. Their version is beside yours: ${notice.copy}.`
    case 'lost':
      return `Content of ${notice.path ?? 'an unknown document'} was found and kept: docmount recover --lost takes it out.`
    case 'damaged':
      return `${notice.sentence}.`
  }
}

function notifySend(title: string, body: string): void {
  if (!hasDesktop()) return
  const markupFree = body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const args = ['--app-name=docmount', '--icon=folder-remote', '--', title, markupFree]
  execFile('notify-send', args, { cwd: '/', timeout: limitMs }, () => {
    // No tool, or nobody who shows it: the log has said it.
  })
}

function hasDesktop(): boolean {
  const { DBUS_SESSION_BUS_ADDRESS: bus, XDG_RUNTIME_DIR: runtime } = process.env
  return (bus ?? '') !== '' || (runtime !== undefined && existsSync(join(runtime, 'bus')))
}
