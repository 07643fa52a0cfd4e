// The suite at a real mount through the `fuse-native` driver, and programs working on it.

import { openMount } from '../support/open-mount.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { behaveMounted } from './mounted-topics.ts'
import { operations } from './operations.ts'
import { programs } from './programs.ts'
import { promises } from './promises.ts'

leaveOut('the whole suite at a mount through fuse-native, not only the promises')
const topics = isThorough ? { ...operations, ...programs, ...promises } : promises
behaveMounted('fuse-native', openMount('fuse-native'), topics)
