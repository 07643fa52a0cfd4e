// The WebDAV door of a session: alone, or beside the kernel door.

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { mimetypeOfName } from '../api/mimetype-of.ts'
import type { FileSystem } from '../fs/contract.ts'
import { silentNotifier, type Notifier } from '../fs/operations.ts'
import type { CloseReason, Mounted } from '../fuse/driver.ts'
import type { Log } from '../log.ts'
import { startWebdav, type WebdavServer } from '../webdav/server.ts'
import { DaemonError } from './daemon-error.ts'
import type { MountPlan } from './mount-plan.ts'
import type { SessionDoor, WebdavAddress } from './session-door.ts'
import { refuseSecond, evictStaleDaemon } from './evict-stale-daemon.ts'

export interface WebdavSettings {
  readonly host: string
  readonly port: number
  /** Paths of PEM files; both or none. */
  readonly cert: string | undefined
  readonly key: string | undefined
  /** Host names of this door, besides its address. */
  readonly hostNames: readonly string[]
}

export interface WebdavDoorOptions {
  readonly plan: MountPlan
  readonly settings: WebdavSettings
  readonly readOnly: boolean
  readonly log: Log
}

const user = 'docmount'
/** Limit for requests under way when the drive ends. */
const lastRequestsMs = 10_000

/** Returns a door without a mount. Throws a DaemonError if the drive is live already. */
export async function prepareWebdavAlone(options: WebdavDoorOptions): Promise<SessionDoor> {
  const { plan } = options
  await refuseSecond(plan)
  await evictStaleDaemon(plan)
  return {
    name: 'webdav',
    why: 'asked for',
    async open(fileSystem) {
      const { server, address } = await serve(fileSystem, options)
      return {
        mounted: asMounted(server),
        webdav: address,
        finishPendingPuts: () => server.finishPendingPuts(),
      }
    },
  }
}

/** Returns a door of both, which end together. The kernel is notified of a change through WebDAV before the client is answered. */
export function besideKernel(kernel: SessionDoor, options: WebdavDoorOptions): SessionDoor {
  return {
    ...kernel,
    async open(fileSystem) {
      // WebDAV is served before the kernel's mount exists: `late` passes each call to the mount's notifier once there is one.
      let notifier = silentNotifier
      const late: Notifier = {
        attributesChanged: (ino) => notifier.attributesChanged(ino),
        contentChanged: (ino) => notifier.contentChanged(ino),
        entryChanging: (parent, name) => notifier.entryChanging(parent, name),
        entryChanged: (parent, name) => notifier.entryChanged(parent, name),
        dropUnused: (nodes) => notifier.dropUnused(nodes),
        heard: () => notifier.heard(),
      }
      const { server, address } = await serve(fileSystem, options, late)
      try {
        const { mounted } = await kernel.open(fileSystem)
        notifier = mounted.notifier
        const closed = mounted.closed.then(async (reason) => {
          await server.close({ waitMs: lastRequestsMs })
          return reason
        })
        return {
          mounted: { ...mounted, closed },
          webdav: address,
          finishPendingPuts: () => server.finishPendingPuts(),
        }
      } catch (error) {
        await server.close({ waitMs: 0 })
        throw error
      }
    },
  }
}

async function serve(
  fileSystem: FileSystem,
  { plan, settings, readOnly, log }: WebdavDoorOptions,
  otherDoor: Notifier = silentNotifier,
): Promise<{ server: WebdavServer; address: WebdavAddress }> {
  const { host, port, cert, key, hostNames } = settings
  const passwordFile = join(plan.stateDir, 'webdav-password')
  const server = await startWebdav(fileSystem, {
    host,
    port,
    hostNames,
    user,
    password: await passwordIn(passwordFile),
    propertiesFile: join(plan.stateDir, 'webdav-properties'),
    isReadOnly: readOnly,
    contentTypeOf: mimetypeOfName,
    otherDoor,
    log,
    ...(cert === undefined || key === undefined ? {} : { tls: await certificateIn(cert, key) }),
  }).catch((error: unknown) => {
    throw describeListenError(error, settings)
  })
  return { server, address: { url: server.url, user, passwordFile } }
}

/** Returns the server in the form of a mount, which ends only when it is unmounted; `lazy` cuts off requests under way. */
function asMounted(server: WebdavServer): Mounted {
  let reportEnd: (reason: CloseReason) => void = () => {}
  const closed = new Promise<CloseReason>((resolve) => {
    reportEnd = resolve
  })
  return {
    notifier: silentNotifier,
    closed,
    async unmount({ lazy }) {
      await server.close({ waitMs: lazy ? 0 : lastRequestsMs })
      reportEnd('unmounted')
    },
  }
}

/** Resolves with the password in the file, created once: desktops store it. Hexadecimal: a leading `-` looks like an option. */
export async function passwordIn(file: string): Promise<string> {
  const known = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (known.trim() !== '') return known.trim()
  const password = randomBytes(15).toString('hex')
  await writeFile(file, `${password}\n`, { mode: 0o600 })
  return password
}

/** Throws a DaemonError if the files are no certificate and its key. */
async function certificateIn(certFile: string, keyFile: string): Promise<{ cert: string; key: string }> {
  const pem = { cert: await readPem(certFile), key: await readPem(keyFile) }
  try {
    createSecureContext(pem)
  } catch (cause) {
    throw new DaemonError(
      `${certFile} and ${keyFile} are no certificate and its key (PEM): ${(cause as Error).message}`,
      { cause },
    )
  }
  return pem
}

function readPem(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new DaemonError(`${file} cannot be read`, { cause })
  })
}

function describeListenError(error: unknown, { host, port }: WebdavSettings): unknown {
  const { code } = error as NodeJS.ErrnoException
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (code === 'EADDRINUSE')
    return new DaemonError(`another program listens at ${place}; choose another port`, { cause: error })
  if (code === 'EACCES') return new DaemonError(`this user may not listen at ${place}`, { cause: error })
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new DaemonError(`${host} is no address of this machine`, { cause: error })
  return error
}
