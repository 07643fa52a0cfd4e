// A real mount that an ordinary user made through the `kernel` driver while the service is away.

import { it } from 'vitest'
import { openMount } from '../support/open-mount.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { awayOptions, awayTopics } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'
import { behaveSideBySide } from './topic.ts'

const open = openMount('kernel-user', awayOptions)
if (isRoot) behaveMounted('kernel-user', open, awayTopics, behaveSideBySide)
if (!isRoot) it.skip('not needed here: an ordinary user runs mount-kernel-away.test.ts')
