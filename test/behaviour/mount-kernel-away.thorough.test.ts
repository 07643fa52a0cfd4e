// A real mount through the `kernel` driver while the service is away.

import { openMount } from '../support/open-mount.ts'
import { awayOptions, awayTopics } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'
import { behaveSideBySide } from './topic.ts'

behaveMounted('kernel', openMount('kernel', awayOptions), awayTopics, behaveSideBySide)
