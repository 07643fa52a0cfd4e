// All inputs of a drive from outside: time, random numbers, disk and network. One value, passed to the constructors of client and
// filesystem. No code below them uses anything else for these, so that a test can replace and control them all (test/world);
// docs/architecture.md lists the exceptions.

import { type Chance, systemChance } from './chance.ts'
import { type Clock, createClock } from './clock.ts'
import { type Disk, systemDisk } from './disk.ts'
import { type Network, systemNetwork } from './network.ts'

export interface World {
  readonly clock: Clock
  readonly chance: Chance
  readonly disk: Disk
  readonly network: Network
}

/** Returns the world of this machine. Its steady clock starts now. */
export function realWorld(): World {
  return { clock: createClock(), chance: systemChance, disk: systemDisk, network: systemNetwork }
}
