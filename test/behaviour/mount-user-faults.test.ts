// What a real mount that an ordinary user made through the `kernel` driver makes of a service that fails.

import { it } from 'vitest'
import { openMount } from '../support/open-mount.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { faults } from './faults.ts'
import { behaveMounted } from './mounted-topics.ts'

const open = openMount('kernel-user', { cacheTtlSec: 1, closeWaitSec: 2 })
if (isRoot) behaveMounted('kernel-user', open, faults)
else it.skip('not needed here: an ordinary user runs mount-kernel-faults.test.ts')
