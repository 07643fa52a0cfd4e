// Limits of Node's timers.

/** Some 24 days. A longer delay would end at once. */
export const longestTimerMs: number = 2 ** 31 - 1
