// Promises of docmount alone: how many calls a user's action costs, and what is refused.

import { callBudgets } from './suite/call-budgets.ts'
import { refusals } from './suite/refusals.ts'
import type { Topic } from './topic.ts'
import type { DocmountDoor } from '../support/docmount-door.ts'

export const promises: Readonly<Record<string, Topic<DocmountDoor>>> = {
  'call budgets': callBudgets,
  refusals,
}
