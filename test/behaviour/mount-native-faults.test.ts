// A real mount through the `fuse-native` driver while the service fails.

import { openMount } from '../support/open-mount.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { faults } from './faults.ts'
import { behaveMounted } from './mounted-topics.ts'

leaveOut('a service that fails, at a mount through fuse-native')
if (isThorough)
  behaveMounted('fuse-native', openMount('fuse-native', { cacheTtlSec: 1, closeWaitSec: 2 }), faults)
