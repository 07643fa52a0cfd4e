// A real mount through the `kernel` driver while the service is away.

import { openMount } from '../support/open-mount.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { awayOptions, awayTopics } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'
import { behaveSideBySide } from './topic.ts'

leaveOut('a service that is away, at a kernel mount')
if (isThorough) behaveMounted('kernel', openMount('kernel', awayOptions), awayTopics, behaveSideBySide)
