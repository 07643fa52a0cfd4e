// Which folders a mount uses and what it is called. Decides and checks paths; `ensureFolders` alone makes any.

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
  /** Source of the drive in the mount table. */
  readonly source: string
  /** An open /dev/fuse that somebody else mounted there and passed to us. */
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
  /** In it each project has a folder of its own. */
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
  // Blocks are found by path, size and time: in one folder a project would be shown another's.
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

/** Options and variables that name other places. */
const otherPlaces = {
  state: '--state-dir',
  cache: '--cache-dir',
  log: '--log',
  runtime: 'XDG_RUNTIME_DIR',
}

/**
 * Refuses folders inside the mountpoint (the daemon would wait for itself), then makes them for this user alone, and refuses those
 * that others can write to.
 */
export async function ensureFolders(plan: MountPlan): Promise<void> {
  const folders: Readonly<Record<keyof typeof otherPlaces, string>> = {
    state: plan.stateDir,
    cache: plan.cacheDir,
    log: dirname(plan.logFile),
    runtime: plan.runtimeDir,
  }
  for (const [name, folder] of Object.entries(folders)) {
    // As text first: what is mounted there already, by somebody else, answers only once we serve it.
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
  for (const [name, reason] of [
    ['state', whyNotOurs(plan.stateDir)],
    ['cache', whyNotSafe(dirname(plan.cacheDir)) ?? whyNotOurs(plan.cacheDir)],
    ['runtime', whyNotOurs(plan.runtimeDir)],
  ] as const)
    if (reason !== undefined)
      throw new DaemonError(`the ${name} folder is not safe: ${reason}; ${otherPlaces[name]} names another`)
  await leaveSharedCache(plan)
}

/**
 * Earlier versions had the blocks of all projects in the folder that `--cache-dir` names: nobody knows whose they
 * are. Pinned blocks were each state folder's own, and are taken along. May go once nobody has such a folder.
 */
async function leaveSharedCache({ cacheDir }: MountPlan): Promise<void> {
  const given = dirname(cacheDir)
  // It is a cache: what cannot be moved is fetched again, what cannot be removed is in nobody's way.
  await rename(join(given, 'pinned'), join(cacheDir, 'pinned')).catch(() => {})
  for (const format of ['blocks-1', 'blocks-2'])
    await rm(join(given, format), { recursive: true, force: true }).catch(() => {})
}

/** Symbolic links are followed as far as the path exists. */
async function realpathOfExisting(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const parent = dirname(path)
    if (parent === path || (error as NodeJS.ErrnoException).code !== 'ENOENT') return path
    return join(await realpathOfExisting(parent), basename(path))
  }
}

/** Readable, safe as a file name, short enough for a socket's path, and distinct by the hash. */
function folderName(project: string, identity: readonly string[]): string {
  const readable = project
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 40)
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 10)
  return `${readable}-${hash}`
}
