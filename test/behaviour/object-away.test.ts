// What the filesystem object makes of a service that is away.

import { openObject } from '../support/open-object.ts'
import { awayOptions, awayTopics } from './away.ts'
import { behaveSideBySide } from './topic.ts'

behaveSideBySide('object', openObject(awayOptions), awayTopics)
