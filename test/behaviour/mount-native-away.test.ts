// A real mount through the `fuse-native` driver while the service is away.

import { openMount } from '../support/open-mount.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { awayOptions, awayTopics } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'
import { behaveSideBySide } from './topic.ts'

leaveOut('a service that is away, at a mount through fuse-native')
if (isThorough)
  behaveMounted('fuse-native', openMount('fuse-native', awayOptions), awayTopics, behaveSideBySide)
