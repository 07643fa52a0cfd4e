// The suite at the filesystem object, in this process, with no kernel.

import { openObject } from '../support/open-object.ts'
import { operations } from './operations.ts'
import { promises } from './promises.ts'
import { behave } from './topic.ts'

behave('object', openObject(), { ...operations, ...promises })
