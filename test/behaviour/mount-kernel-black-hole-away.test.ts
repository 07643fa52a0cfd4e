// What a real mount through the `kernel` driver makes of a service that answers nothing at all.

import { openMount } from '../support/open-mount.ts'
import { awayOptions, blackHoleTopics } from './away.ts'
import { behaveMounted } from './mounted-topics.ts'

behaveMounted('kernel', openMount('kernel', awayOptions), blackHoleTopics)
