// The suite at a real mount through the `kernel` driver, and programs working on it.

import { openMount } from '../support/open-mount.ts'
import { behaveMounted } from './mounted-topics.ts'
import { operations } from './operations.ts'
import { programs } from './programs.ts'
import { promises } from './promises.ts'

behaveMounted('kernel', openMount('kernel'), { ...operations, ...programs, ...promises })
