// The plan of a mount: its id, its paths, and their checks. Only `ensureFolders` creates folders.

import { createHash } from 'node:crypto'
import { mkdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { DaemonError } from './daemon-error.ts'
import { whyNotOurs, whyNotSafe } from '../own-folder.ts'
import { isAtOrUnder } from './path-inside.ts'
import { runtimeFolder, xdgFolder } from './xdg.ts'

export interface MountPlan {
  /** Names the mount's state folder, record and socket; the same for the same service, project and mountpoint. */
  readonly id: string
  readonly project: string
  readonly baseUrl: string
  readonly mountpoint: string
  /** Device name in the mount table, e.g. `docmount:acme`. */
  readonly source: string
  /** An open /dev/fuse that another program mounted and passed to us. */
  readonly descriptor: number | undefined
  readonly stateDir: string
  readonly cacheDir: string
  readonly runtimeDir: string
  readonly logFile: string
}

export interface MountPlanOptions {
  readonly project: string
  readonly baseUrl: string
  /** Canonical: see `resolveMountpoint`. */
  readonly mountpoint: string
  /** Default: `docmount:PROJECT`. */
  readonly source?: string | undefined
  readonly descriptor?: number | undefined
  readonly stateDir?: string | undefined
  /** Parent folder: each project has its own folder in it. */
  readonly cacheDir?: string | undefined
  readonly logFile?: string | undefined
}

/** One state folder per mountpoint; one cache folder per project, shared by its mounts. */
export function planMount(
  options: MountPlanOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): MountPlan {
  const { project, mountpoint, descriptor } = options
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const id = folderName(project, [baseUrl, project, mountpoint])
  const stateDir = resolve(options.stateDir ?? join(xdgFolder('state', env), id))
  // Cached blocks are found by path, size and time: projects that shared a folder would mix them up.
  const cacheName = folderName(project, [baseUrl, project])
  return {
    id,
    project,
    baseUrl,
    mountpoint,
    source: options.source ?? `docmount:${project}`,
    descriptor,
    stateDir,
    cacheDir: resolve(options.cacheDir ?? xdgFolder('cache', env), cacheName),
    runtimeDir: runtimeFolder(env),
    logFile: resolve(options.logFile ?? join(stateDir, 'docmount.log')),
  }
}

/** Options and variables that set another folder, for messages. */
const otherPlaces = {
  state: '--state-dir',
  cache: '--cache-dir',
  log: '--log',
  runtime: 'XDG_RUNTIME_DIR',
}

/**
 * Creates the folders, for this user alone. Throws a DaemonError for one inside the mountpoint (the daemon would wait for
 * itself), and for one that other users can write to.
 */
export async function ensureFolders(plan: MountPlan): Promise<void> {
  const folders: Readonly<Record<keyof typeof otherPlaces, string>> = {
    state: plan.stateDir,
    cache: plan.cacheDir,
    log: dirname(plan.logFile),
    runtime: plan.runtimeDir,
  }
  for (const [name, folder] of Object.entries(folders)) {
    // Compared as text first: a mount that was passed to us answers only once we serve it.
    if (
      isAtOrUnder(folder, plan.mountpoint) ||
      isAtOrUnder(await realpathOfExisting(folder), plan.mountpoint)
    ) {
      throw new DaemonError(
        `the ${name} folder ${folder} lies inside the mountpoint ${plan.mountpoint}; choose another place for one of them`,
      )
    }
  }
  for (const [name, folder] of Object.entries(folders) as [keyof typeof otherPlaces, string][]) {
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException
      throw new DaemonError(
        `cannot make the ${name} folder ${folder} (${code ?? String(error)}); ${otherPlaces[name]} names another`,
        { cause: error },
      )
    })
  }
  // The parent of the cache folder may be shared by users (`--cache-dir`), the others are this user's alone.
  for (const [name, reason] of [
    ['state', whyNotOurs(plan.stateDir)],
    ['cache', whyNotSafe(dirname(plan.cacheDir)) ?? whyNotOurs(plan.cacheDir)],
    ['runtime', whyNotOurs(plan.runtimeDir)],
  ] as const)
    if (reason !== undefined)
      throw new DaemonError(`the ${name} folder is not safe: ${reason}; ${otherPlaces[name]} names another`)
  await removeSharedCache(plan)
}

/**
 * Cleans up after earlier versions, which mixed the blocks of all projects in the folder of `--cache-dir`: those are removed.
 * Pinned blocks were per state folder, and are moved. Can be deleted once no such folder is left.
 */
async function removeSharedCache({ cacheDir }: MountPlan): Promise<void> {
  const parent = dirname(cacheDir)
  // A failure does no harm: pinned blocks are fetched again, old ones only take space.
  await rename(join(parent, 'pinned'), join(cacheDir, 'pinned')).catch(() => {})
  for (const format of ['blocks-1', 'blocks-2'])
    await rm(join(parent, format), { recursive: true, force: true }).catch(() => {})
}

/** Resolves with the path, symbolic links followed as far as it exists. */
async function realpathOfExisting(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    if (parent === path || (error as NodeJS.ErrnoException).code !== 'ENOENT') return path
    return join(await realpathOfExisting(parent), basename(path))
  }
}

/** Returns a file name that starts readably, is short enough for a socket's path, and is unique by its hash. */
function folderName(project: string, identity: readonly string[]): string {
  const readable = project
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 40)
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 10)
  return `${readable}-${hash}`
}
