// A program that handles signals is told the truth about every call, however often they arrive.

import { join } from 'node:path'
import { expect } from 'vitest'

import type { FolderDoor } from '../../support/folder-door.ts'
import { isInstalled, run } from '../../support/run.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import type { Topic } from '../topic.ts'

const storms = [
  ['timer', 'a signal each millisecond makes no call of any kind fail, or lie'],
  ['children', 'children that end make no call of any kind fail, or lie'],
] as const

export const signals: Topic<FolderDoor> = (it) => {
  for (const [storm, title] of storms) {
    if (!isInstalled('cc')) {
      it.skip(`${title} (not installed: cc)`)
      continue
    }
    it(title, async ({ door, folder }) => {
      const built = await makeTemporaryFolder()
      try {
        const program = join(built.path, 'signal-storm')
        await run('cc', ['-O1', '-o', program, new URL('signal-storm.c', import.meta.url).pathname])
        await run('chmod', ['755', built.path])
        const { stdout } = await run(program, [storm, door.root + folder, '5'], {
          user: door.user,
          mayFail: true,
        })
        expect(stdout).toBe('calm\n')
      } finally {
        await built.remove()
      }
    })
  }
}
