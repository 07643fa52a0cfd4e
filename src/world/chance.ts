// Chance: ids that are no other's, and the jitter that keeps many from doing the same at once.

import { randomBytes, randomUUID } from 'node:crypto'

export interface Chance {
  /** From 0 up to, and without, 1. */
  random(): number
  uuid(): string
  /** So many random bytes, two digits each. */
  hex(bytes: number): string
}

export const systemChance: Chance = {
  random: Math.random,
  uuid: randomUUID,
  hex: (bytes) => randomBytes(bytes).toString('hex'),
}
