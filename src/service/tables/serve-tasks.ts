// The other side of `task-processes.ts`: a process that does the tasks it is sent, and ends with the service.

import { carry } from '../store/carried-error.ts'
import type { TaskAnswer } from './task-processes.ts'

/** Sends what `answer` gives for each task. */
export function serveTasks(answer: (task: never) => Promise<TaskAnswer<unknown>>): void {
  // Node would open a debugger's port, to every user of this machine.
  process.on('SIGUSR1', () => {})
  // Ctrl-C, and an end of the whole group, are the service's to obey: it may wait for this task.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  process.on('message', (task) => {
    void answer(task as never).then((told) => process.send?.(told))
  })
}

/** The answer that `work` leads to; its error is carried to the service. */
export async function answerOf<Result>(work: () => Promise<Result>): Promise<TaskAnswer<Result>> {
  try {
    return { result: await work() }
  } catch (error) {
    return { error: carry(error) }
  }
}
