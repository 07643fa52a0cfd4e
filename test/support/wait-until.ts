// Polling for a condition with a deadline, which tests use instead of sleeping.

import { setTimeout as sleep } from 'node:timers/promises'

/** Returns the first result of `check` that is neither undefined nor false. Throws after `limitMs`, with `what` in the message. */
export async function waitUntil<T>(
  what: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 100_000,
): Promise<T> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const seen = await check()
    if (seen !== undefined && seen !== false) return seen
    if (Date.now() > deadline) throw new Error(`waited ${limitMs / 1000} s in vain: ${what}`)
    await sleep(20)
  }
}
