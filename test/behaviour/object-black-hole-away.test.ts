// What the filesystem object makes of a service that answers nothing at all.

import { openObject } from '../support/open-object.ts'
import { awayOptions, blackHoleTopics } from './away.ts'
import { behave } from './topic.ts'

behave('object', openObject(awayOptions), blackHoleTopics)
