// A real mount that an ordinary user made through the `kernel` driver while the service fails.

import { it } from 'vitest'
import { openMount } from '../support/open-mount.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { faults } from './faults.ts'
import { behaveMounted } from './mounted-topics.ts'

const open = openMount('kernel-user', { cacheTtlSec: 1, closeWaitSec: 2 })
if (isRoot) behaveMounted('kernel-user', open, faults)
if (!isRoot) it.skip('not needed here: an ordinary user runs mount-kernel-faults.test.ts')
