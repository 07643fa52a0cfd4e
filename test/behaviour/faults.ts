// docmount while the service fails, is slow, or is changed by somebody else. Run with a time to live of one second
// and a close that waits two.

import type { DocmountDoor } from '../support/docmount-door.ts'
import { otherClients } from './suite/other-clients.ts'
import { readFaults } from './suite/read-faults.ts'
import { serviceDown } from './suite/service-down.ts'
import { unseenVersions } from './suite/unseen-versions.ts'
import { writeFaults } from './suite/write-faults.ts'
import type { Topic } from './topic.ts'

export const faults: Readonly<Record<string, Topic<DocmountDoor>>> = {
  'read faults': readFaults,
  'write faults': writeFaults,
  'other clients': otherClients,
  'unseen versions': unseenVersions,
  // Last: it takes the service away from everybody.
  'service down': serviceDown,
}
