// What docmount makes of a service that is away. Run with a time to live of one second, through a network that can be lost.
// In two parts, for they mostly wait, and need not wait for each other.

import type { DocmountDoor, DocmountDoorOptions } from '../support/docmount-door.ts'
import { awayTopic, lostTopic } from './suite/away.ts'
import type { Topic } from './topic.ts'

type Topics = Readonly<Record<string, Topic<DocmountDoor>>>

const away: Topic<DocmountDoor> = (it) => {
  lostTopic(['refused', 'portal', 'gateway'])(it)
  awayTopic(it)
}
const blackHole = lostTopic(['black-hole'])

export const awayTopics: Topics = { away }
export const blackHoleTopics: Topics = { away: blackHole }
export const allAwayTopics: Topics = {
  away: (it) => {
    away(it)
    blackHole(it)
  },
}
export const awayOptions: DocmountDoorOptions = { cacheTtlSec: 1, closeWaitSec: 2, throughNetwork: true }
