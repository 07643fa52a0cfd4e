// What Node's timers can count.

/** Some 24 days. What is longer would end at once. */
export const longestTimerMs: number = 2 ** 31 - 1
