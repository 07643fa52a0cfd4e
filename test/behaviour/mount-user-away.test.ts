// What a real mount that an ordinary user made through the `kernel` driver makes of a service that is away.

import { it } from 'vitest'
import { openMount } from '../support/open-mount.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { away, awayOptions } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'

const open = openMount('kernel-user', awayOptions)
if (isRoot) behaveMounted('kernel-user', open, away)
else it.skip('not needed here: an ordinary user runs mount-kernel-away.test.ts')
