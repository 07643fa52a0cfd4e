// Implements `docmount projects`: the projects that the key may see, those of the config file, and those that are mounted or left
// something here; each with its places and their states.

import type { Project } from '../api/types.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import { findDrivesOfHome } from '../daemon/find-mount.ts'
import { findLeftFolders } from '../daemon/left-behind.ts'
import { configuredProjects } from './config-file.ts'
import { type ServiceOptions, withClient } from './connect.ts'
import { askDrive } from './find-drive.ts'
import { leftSummary } from './left-text.ts'
import { type JsonOption, printJson, printTable } from './output.ts'

const answerWithinMs = 5000

/** A mountpoint of a project, and how the drive there is, in words. */
interface Place {
  readonly mountpoint: string
  readonly state: string
}

/** Without the service, prints what is known here, and throws the error. */
export async function runProjects(options: ServiceOptions & JsonOption): Promise<void> {
  const answer = await withClient(undefined, options, (client, signal) => client.projects({ signal })).catch(
    (error: unknown) => {
      if (options.json === true || !(error instanceof Error)) throw error
      return error
    },
  )
  const seen: readonly Project[] = answer instanceof Error ? [] : answer
  const places = await placesByProject()
  if (options.json === true)
    printJson(
      seen.map(({ id, name, createdAt }) => ({
        id,
        name,
        created_at: createdAt,
        mounts: places.get(name) ?? [],
      })),
    )
  else {
    const others = [...places.keys(), ...(await configuredProjects())].map((name) => ({ name }))
    const projects = new Map<string, Partial<Project>>([...others, ...seen].map((each) => [each.name, each]))
    const rows = [...projects].flatMap(([name, { createdAt, id }]) =>
      (places.get(name) ?? [{ mountpoint: undefined, state: 'not mounted' }]).map(({ mountpoint, state }) => [
        name, mountpoint, state, createdAt, id,
      ]),
    ) // prettier-ignore
    printTable(['NAME', 'MOUNTED AT', 'STATE', 'CREATED', 'ID'], rows)
  }
  if (answer instanceof Error) throw answer
}

/** Drives of this home, and state folders with leftovers. */
async function placesByProject(): Promise<ReadonlyMap<string, readonly Place[]>> {
  const drives = await findDrivesOfHome()
  const served = new Set(drives.map(({ record }) => record.stateDir))
  const live = drives.map(async (found) => ({
    project: found.record.project,
    mountpoint: found.mountpoint,
    state: found.isDaemonAlive ? await stateOf(found) : 'ended without being unmounted',
  }))
  const left = (await findLeftFolders()).flatMap(({ stateDir, drive, left }) =>
    drive === undefined || served.has(stateDir)
      ? []
      : [{ ...drive, state: `not mounted, ${leftSummary(left)}` }],
  )
  const places = new Map<string, Place[]>()
  for (const { project, mountpoint, state } of [...(await Promise.all(live)), ...left])
    places.set(project, [...(places.get(project) ?? []), { mountpoint, state }])
  return places
}

async function stateOf(found: Parameters<typeof askDrive>[0]): Promise<string> {
  const signal = AbortSignal.timeout(answerWithinMs)
  return askDrive(found, 'status', {}, { signal }).then(
    ({ mount }) => wordsFor(mount),
    () => 'does not answer',
  )
}

function wordsFor({ state, away, keyRefusal, isPaused, unsent }: MountStatus): string {
  const words = [
    ...(state === 'live' ? [] : ['being unmounted']),
    ...(keyRefusal === undefined ? [] : ['the service refuses the key']),
    ...(away === undefined ? [] : ['the service is away']),
    ...(isPaused ? ['paused'] : []),
  ]
  return [...words, unsent.length === 0 ? 'everything sent' : `${unsent.length} not sent`].join(', ')
}
