// The order of the files: those that mostly wait (for an outage to last longer than every time limit) begin first, so that
// the others work meanwhile and nobody waits for them at the end.

import { BaseSequencer, type TestSpecification } from 'vitest/node'

const waiting = /-away\.test\.ts$|\/reach\.test\.ts$|\/steps\.test\.ts$/

export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isWaiting = ({ moduleId }: TestSpecification): boolean => waiting.test(moduleId)
    return [...sorted.filter(isWaiting), ...sorted.filter((file) => !isWaiting(file))]
  }
}
