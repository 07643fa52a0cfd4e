// The status item of a drive in the desktop's tray. A program in Python shows it (src/desktop/status_item.py, with python3-gi,
// which desktops have): a fault in its D-Bus code cannot end the drive, and it ends with its standard input, so with the drive,
// however that ends. Each drive has its own: one for all would have to outlive the drive that started it.

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../child-environment.ts'
import { hasSessionBus, notifySend } from '../daemon/desktop-notifications.ts'
import type { MountSession } from '../daemon/mount-session.ts'
import type { Log } from '../log.ts'
import { openOnDesktop } from '../ui/open-on-desktop.ts'
import { type OwnPage, startOwnPage } from './own-page.ts'
import { Burst, documentOf, itemView } from './status-item-view.ts'

/** Owner of this name on the session bus: the tray. */
const watcher = 'org.kde.StatusNotifierWatcher'
const program = fileURLToPath(new URL('../desktop/status_item.py', import.meta.url))
/** The system's Python: python3-gi is a package of the distribution. */
const python = '/usr/bin/python3'
/** Shortest pause between two looks at the drive (ms). */
const everyMs = 1000
/** Shortest pause as a multiple of the look before it, which takes long where many changes are not sent. */
const restFactor = 200

/**
 * Shows the item while there is a tray, until the drive ends. Without a session bus, nothing runs; without a tray, one small program
 * that sleeps until there is one. Failures are logged at debug level: the drive works without the item.
 */
export function showStatusItem(
  session: MountSession,
  { log, page }: { readonly log: Log; readonly page: OwnPage | undefined },
): void {
  if (!hasSessionBus()) return
  const end = new AbortController()
  const choices = new Choices(session, page)
  void session.finished.then(() => {
    end.abort()
    choices.end()
  })

  async function showWhileTray(): Promise<void> {
    // `setpriv` ends it with this process, which may be killed.
    const waiting = ['--pdeathsig', 'TERM', 'gdbus', 'wait', '--session', watcher]
    while (!end.signal.aborted) {
      const waiter = start('setpriv', waiting)
      const stop = (): boolean => waiter.kill()
      end.signal.addEventListener('abort', stop, { once: true })
      const isThere = (await endOf(waiter)) === 0
      end.signal.removeEventListener('abort', stop)
      if (!isThere || (await show(start(python, ['-I', program]))) !== 0) return
    }
  }

  /** Resolves with the exit code when the item has ended: with the tray, or with the drive. */
  async function show(item: Program): Promise<number | null> {
    const burst = new Burst()
    let shown = ''
    let timer: NodeJS.Timeout | undefined
    const update = (): void => {
      clearTimeout(timer)
      const from = performance.now()
      const view = JSON.stringify(itemView(session.status(), burst))
      if (view !== shown) item.stdin.write(`${view}\n`)
      shown = view
      timer = setTimeout(update, Math.max(everyMs, restFactor * (performance.now() - from))).unref()
    }
    createInterface({ input: item.stdout }).on('line', (id) => void choices.choose(id).then(update))
    const stop = (): void => void item.stdin.end()
    end.signal.addEventListener('abort', stop, { once: true })
    const ended = endOf(item)
    update()
    return ended.finally(() => {
      clearTimeout(timer)
      end.signal.removeEventListener('abort', stop)
    })
  }

  showWhileTray().catch((error: unknown) => log.debug({ error }, 'no status item'))
}

/** Does what the entries of the menu say. */
class Choices {
  readonly #session: MountSession
  #page: OwnPage | undefined

  /** `page`: that of `mount --ui`. */
  constructor(session: MountSession, page: OwnPage | undefined) {
    this.#session = session
    this.#page = page
  }

  /** Never rejects: a failure becomes a notification. */
  async choose(id: string): Promise<void> {
    const { fileSystem, record } = this.#session
    const path = documentOf(id)
    try {
      if (id === 'pause') fileSystem.pause()
      else if (id === 'resume') fileSystem.resume()
      else if (id === 'retry') fileSystem.retry('/')
      else if (id === 'page' || record.driver === 'webdav') await this.#openPage()
      else
        await openOnDesktop(path === undefined ? record.mountpoint : join(record.mountpoint, dirname(path)))
    } catch {
      notifySend(`docmount: ${record.project}`, 'The desktop could not open it (xdg-open failed).')
    }
  }

  end(): void {
    this.#page?.end()
  }

  async #openPage(): Promise<void> {
    if (this.#page?.isOver() !== false) this.#page = await startOwnPage({ opens: false })
    const { address } = this.#page
    if (address === undefined) throw new Error('the page could not be served')
    await openOnDesktop(address)
  }
}

type Program = ChildProcessByStdio<Writable, Readable, null>

function start(command: string, args: readonly string[]): Program {
  const child = spawn(command, args, { cwd: '/', env: childEnvironment(), stdio: ['pipe', 'pipe', 'ignore'] })
  // EPIPE: it may end before it has read everything.
  child.stdin.on('error', () => {})
  child.unref()
  return child
}

/** Rejects with ENOENT if the program is not installed. */
async function endOf(child: Program): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}
