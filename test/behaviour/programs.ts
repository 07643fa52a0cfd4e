// Real programs at work: needs a door with a folder on disk.

import type { FolderDoor } from '../support/folder-door.ts'
import { coreutils } from './programs/coreutils.ts'
import { savers } from './programs/savers.ts'
import { scenarios } from './programs/scenario.ts'
import { signals } from './programs/signals.ts'
import { tools } from './programs/tools.ts'
import type { Topic } from './topic.ts'

export const programs: Readonly<Record<string, Topic<FolderDoor>>> = {
  coreutils: scenarios(coreutils),
  tools: scenarios(tools),
  savers,
  signals,
}
