// What a real mount through the `kernel` driver makes of a service that fails.

import { openMount } from '../support/open-mount.ts'
import { faults } from './faults.ts'
import { behaveMounted } from './mounted-topics.ts'

behaveMounted('kernel', openMount('kernel', { cacheTtlSec: 1, closeWaitSec: 2 }), faults)
