// What docmount makes of a service that is away. Run with a time to live of one second, through a network that can be lost.

import type { DocmountDoor, DocmountDoorOptions } from '../support/docmount-door.ts'
import { awayTopic } from './suite/away.ts'
import type { Topic } from './topic.ts'

export const away: Readonly<Record<string, Topic<DocmountDoor>>> = { away: awayTopic }
export const awayOptions: DocmountDoorOptions = { cacheTtlSec: 1, closeWaitSec: 2, throughNetwork: true }
