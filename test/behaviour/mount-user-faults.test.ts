// A real mount that an ordinary user made through the `kernel` driver while the service fails.

import { it } from 'vitest'
import { openMount } from '../support/open-mount.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { faults } from './faults.ts'
import { behaveMounted } from './mounted-topics.ts'

const open = openMount('kernel-user', { cacheTtlSec: 1, closeWaitSec: 2 })
if (isRoot) leaveOut('a service that fails, at a mount of an ordinary user')
if (isRoot && isThorough) behaveMounted('kernel-user', open, faults)
if (!isRoot) it.skip('not needed here: an ordinary user runs mount-kernel-faults.test.ts')
