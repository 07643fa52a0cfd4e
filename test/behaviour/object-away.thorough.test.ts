// The filesystem object while the service is away.

import { openObject } from '../support/open-object.ts'
import { awayOptions, awayTopics } from './away.ts'
import { behaveSideBySide } from './topic.ts'

behaveSideBySide('object', openObject(awayOptions), awayTopics)
