// A real mount through the `fuse-native` driver while the service is away.

import { openMount } from '../support/open-mount.ts'
import { awayOptions, awayTopics } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'
import { behaveSideBySide } from './topic.ts'

behaveMounted('fuse-native', openMount('fuse-native', awayOptions), awayTopics, behaveSideBySide)
