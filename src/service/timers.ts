// Limits of Node's timers.

/** About 25 days: Node fires a timer with a longer delay at once. */
export const longestTimerMs: number = 2 ** 31 - 1
