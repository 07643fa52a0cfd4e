// What a real mount through the `fuse-native` driver makes of a service that is away.

import { openMount } from '../support/open-mount.ts'
import { away, awayOptions } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'

behaveMounted('fuse-native', openMount('fuse-native', awayOptions), away)
