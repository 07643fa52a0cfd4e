// Polls for a condition with a deadline: what tests use instead of sleeping.

import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves with the first answer that is neither undefined nor false; throws after `limitMs` (default 100 s), naming `what`. */
export async function waitUntil<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 100_000,
): Promise<T> {
  const deadline = Date.now() + limitMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (Date.now() > deadline) throw new Error(`waited ${limitMs / 1000} s in vain: ${what}`)
    await sleep(20)
  }
}
