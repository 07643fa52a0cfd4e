// A real mount through the `fuse-native` driver while the service fails.

import { openMount } from '../support/open-mount.ts'
import { faults } from './faults.ts'
import { behaveMounted } from './mounted-topics.ts'

behaveMounted('fuse-native', openMount('fuse-native', { cacheTtlSec: 1, closeWaitSec: 2 }), faults)
