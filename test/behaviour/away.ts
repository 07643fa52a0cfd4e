// docmount while the service is away. Run with a time to live of one second, through a network that can be lost. In
// as many parts as there are ways to lose it, for they mostly wait, and need not wait for each other.

import type { DocmountDoor, DocmountDoorOptions } from '../support/docmount-door.ts'
import { awayTopic, lostTopic } from './suite/away.ts'
import type { Topics } from './topic.ts'

export const awayTopics: Topics<DocmountDoor> = {
  'away black-hole': lostTopic('black-hole'),
  'away black-hole remounted': lostTopic('black-hole', { isRemounted: true }),
  'away refused': lostTopic('refused'),
  'away refused remounted': lostTopic('refused', { isRemounted: true }),
  'away portal': lostTopic('portal'),
  'away gateway': lostTopic('gateway'),
  away: awayTopic,
}
export const awayOptions: DocmountDoorOptions = { cacheTtlSec: 1, closeWaitSec: 2, throughNetwork: true }
