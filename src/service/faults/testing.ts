// State that a service keeps for tests alone: faults, the calls made so far, and recent changes for stale listings.
// Made only where a test asks: it remembers what strangers send.

import { CallLog } from './call-log.ts'
import { FaultSwitch } from './fault-switch.ts'
import { NodeHistory } from './node-history.ts'

export class TestHooks {
  readonly faults: FaultSwitch = new FaultSwitch()
  readonly calls: CallLog = new CallLog()
  readonly history: NodeHistory = new NodeHistory()
}
