// Everything that decides from outside what happens in a drive: what time it is, what chance says, what the disk and the
// network do. One value, handed in where a client and a filesystem are made; nobody below reaches past it, so that a test
// can be the world (test/world).

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

/** This machine. Clocks begin to count now. */
export function realWorld(): World {
  return { clock: createClock(), chance: systemChance, disk: systemDisk, network: systemNetwork }
}
