// The filesystem object while the service fails.

import { openObject } from '../support/open-object.ts'
import { faults } from './faults.ts'
import { behave } from './topic.ts'

behave('object', openObject({ cacheTtlSec: 1, closeWaitSec: 2 }), faults)
