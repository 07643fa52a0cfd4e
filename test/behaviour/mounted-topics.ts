// Runs topics at a mount where one can be made; elsewhere says why not, and fails where CI expects it.

import { it } from 'vitest'

import type { Door, DoorName } from '../support/door.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { whyNoUserMount } from '../support/ordinary-user.ts'
import { behave, type OpenDoor, type Topics } from './topic.ts'

export function behaveMounted<D extends Door>(
  name: DoorName,
  open: OpenDoor<D>,
  topics: Topics<D>,
  /** `behave` or `behaveSideBySide`. */
  run: typeof behave = behave,
): void {
  const reason = name === 'kernel-user' ? whyNoUserMount() : whyNoFuse()
  if (reason === undefined) run(name, open, topics)
  else if (process.env['CI'] === undefined) it.skip(`not run: ${reason}`)
  else {
    it('a drive can be mounted here', () => {
      throw new Error(`${reason}, and CI is set: mount tests have to run`)
    })
  }
}
