// The order of the files. Tests of mounts mostly wait, for an outage to last longer than every time limit or for a
// kernel; the others compute. The two take turns, so that the processor is used from the beginning to the end. Of
// each, what waits longest begins first, then what takes long. Files that share processes stay together, at the end:
// vitest keeps a process for the file that comes next only.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

const waiting = /-away\.test\.ts$|\/slow-uplink\.test\.ts$|\/reach\.test\.ts$|\/steps\.test\.ts$/
/** Short files that run long suites: vitest takes what it has not seen run for as long as its file is. */
const long = /\/behaviour\/|\/world\/simulation\.test\.ts$|\/serve-command\.test\.ts$|\/model\//

const turnOf = ({ moduleId }: TestSpecification): number =>
  waiting.test(moduleId) ? 0 : long.test(moduleId) ? 1 : 2

export class Riffled extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = (await super.sort(files)).toSorted((one, other) => turnOf(one) - turnOf(other))
    const sharing = sorted.filter(({ project }) => !project.config.isolate)
    const mounted = sorted.filter(({ project }) => project.name === 'mount')
    const others = sorted.filter((file) => !sharing.includes(file) && !mounted.includes(file))
    return [...riffle(mounted, others), ...sharing]
  }
}

/** Both in their order, mixed as evenly as their numbers allow. */
function riffle<T>(one: T[], other: T[]): T[] {
  const placed = [one, other].flatMap((list) =>
    list.map((item, index) => ({ item, at: (index + 0.5) / list.length })),
  )
  return placed.toSorted((a, b) => a.at - b.at).map(({ item }) => item)
}
