// The order of test files. Mount tests mostly wait (for an outage to exceed a time limit, or for the kernel); the others compute.
// Both kinds are mixed evenly, so that the processor is always used. In each kind, files that wait longest come first, then
// other long ones. Files of projects without isolation come last, together: vitest reuses a process only for the next file.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

const longestWaiting = /-away\.|\/slow-uplink\.|\/reach\.|\/steps\.|\/bare-debian\.|\/histories-/
/** Short files with long-running suites: without a record of earlier runs, vitest sorts by the size of files. */
const long = /\/behaviour\/|\/world\/simulation\.|\/serve-command\.|\/model\//

const rankOf = ({ moduleId }: TestSpecification): number =>
  longestWaiting.test(moduleId) ? 0 : long.test(moduleId) ? 1 : 2

export class Riffled extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
    const sharing = sorted.filter(({ project }) => !project.config.isolate)
    const mounted = sorted.filter(({ project }) => project.name === 'mount')
    const others = sorted.filter((file) => !sharing.includes(file) && !mounted.includes(file))
    return [...riffle(mounted, others), ...sharing]
  }
}

/** Merges two lists as evenly as possible, each in its order. */
function riffle<T>(one: T[], other: T[]): T[] {
  const placed = [one, other].flatMap((list) =>
    list.map((item, index) => ({ item, at: (index + 0.5) / list.length })),
  )
  return placed.toSorted((a, b) => a.at - b.at).map(({ item }) => item)
}
