// A real mount through the `kernel` driver while the service fails.

import { openMount } from '../support/open-mount.ts'
import { faults } from './faults.ts'
import { behaveMounted } from './mounted-topics.ts'

behaveMounted('kernel', openMount('kernel', { cacheTtlSec: 1, closeWaitSec: 2 }), faults)
