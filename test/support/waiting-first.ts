// The order of the files: those that mostly wait (for an outage to last longer than every time limit) begin first, so that
// the others work meanwhile and nobody waits for them at the end; then those that take long.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

const waiting = /-away\.test\.ts$|\/reach\.test\.ts$|\/steps\.test\.ts$/
/** Short files that run long suites: vitest takes what it has not seen run for as long as its file is. */
const long = /\/behaviour\/|\/world\/simulation\.test\.ts$|\/serve-command\.test\.ts$|\/model\//

const turnOf = ({ moduleId }: TestSpecification): number =>
  waiting.test(moduleId) ? 0 : long.test(moduleId) ? 1 : 2

export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => turnOf(one) - turnOf(other))
  }
}
