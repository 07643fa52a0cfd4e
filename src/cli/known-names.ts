// Names of projects and drives for shell completion, as far as this machine knows them without the service.

import { findDrivesOfHome } from '../daemon/find-mount.ts'
import type { NameKind } from './command-tree.ts'
import { configuredProjects } from './config-file.ts'

/** Returns sorted names without duplicates, and without control characters. Never throws: completion cannot show an error. */
export async function knownNames(kind: NameKind): Promise<readonly string[]> {
  const drives = await findDrivesOfHome().catch(() => [])
  const mounted = drives.map(({ record }) => record.project)
  const names =
    kind === 'drives'
      ? [...mounted, ...drives.map(({ mountpoint }) => mountpoint)]
      : [...(await configuredProjects().catch(() => [])), ...mounted]
  // eslint-disable-next-line no-control-regex
  return [...new Set(names)].filter((name) => !/[\0-\x1f\x7f]/.test(name)).toSorted()
}
