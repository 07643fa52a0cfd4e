// The child side of `task-processes.ts`: runs the tasks that the service sends, and ends with the service.

import { carry } from '../store/carried-error.ts'
import type { TaskAnswer } from './task-processes.ts'

/** Sends the result of `run` for each task. */
export function serveTasks(run: (task: never) => Promise<TaskAnswer<unknown>>): void {
  // Node's default opens a debugger port, which every user of this machine can reach.
  process.on('SIGUSR1', () => {})
  // Ctrl-C reaches the whole process group: the service decides, and may wait for this task.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => process.exit())
  process.on('message', (task) => {
    void run(task as never).then((answer) => process.send?.(answer))
  })
}

/** Returns the result of `work`, or its error, as a message to the service. */
export async function answerOf<Result>(work: () => Promise<Result>): Promise<TaskAnswer<Result>> {
  try {
    return { result: await work() }
  } catch (error) {
    return { error: carry(error) }
  }
}
