// Opens the door `oracle`: a plain folder with the given files. The suite must hold there, too, or it is wrong itself.

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import type { OpenDoor } from '../behaviour/topic.ts'
import { startAgent } from './agent.ts'
import { nothing } from './behind.ts'
import { folderDoor, type FolderDoor } from './folder-door.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

/** A plain temporary folder. */
export const openOracle: OpenDoor<FolderDoor> = async (given) => {
  const temporary = await makeTemporaryFolder()
  for (const [path, content] of given) {
    await mkdir(dirname(temporary.path + path), { recursive: true })
    await writeFile(temporary.path + path, content)
  }
  const agent = startAgent()
  return {
    door: { ...folderDoor('oracle', temporary.path, agent), behind: nothing },
    explain: () => '',
    async close() {
      agent.stop()
      await temporary.remove()
    },
  }
}
