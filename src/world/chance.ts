// Random numbers: unique ids, and the jitter that keeps many clients from acting at the same moment.

import { randomBytes, randomUUID } from 'node:crypto'

export interface Chance {
  /** Returns a number from 0 up to, but not including, 1. */
  random(): number
  uuid(): string
  /** Returns `bytes` random bytes as hexadecimal text, two digits each. */
  hex(bytes: number): string
}

export const systemChance: Chance = {
  random: Math.random,
  uuid: randomUUID,
  hex: (bytes) => randomBytes(bytes).toString('hex'),
}
