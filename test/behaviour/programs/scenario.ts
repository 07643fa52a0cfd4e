// A program at work on a folder, with what is there afterwards. The oracle proves that "afterwards" is what POSIX gives;
// at a mount the same has to be in the service, byte for byte.

import { expect } from 'vitest'

import type { CallPromise, Documents } from '../../support/behind.ts'
import { treeOf } from '../../support/door.ts'
import type { FolderDoor } from '../../support/folder-door.ts'
import { bash, isInstalled } from '../../support/run.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import type { Given, Topic } from '../topic.ts'

export interface Scenario {
  readonly title: string
  /** Programs it needs; without them it is skipped, by name. */
  readonly programs?: readonly string[]
  readonly given?: Given
  /** Lines of bash: `$1` is the folder, `$2` a plain folder outside for material. Each stops at its first failing command. */
  readonly prepare?: string
  readonly act: string
  /** Every document afterwards. */
  readonly after: Documents
  /** Names that are there afterwards and never leave this machine. */
  readonly staysHere?: Documents
  /** Calls that `act` may cost. */
  readonly calls?: CallPromise
  /** Standard output of `act`. */
  readonly says?: string
}

/** Registers scenarios as cases. */
export function scenarios(all: readonly Scenario[]): Topic<FolderDoor> {
  return (it) => {
    for (const scenario of all) {
      const missing = (scenario.programs ?? []).filter((program) => !isInstalled(program))
      if (missing.length > 0) {
        it.skip(`${scenario.title} (not installed: ${missing.join(', ')})`)
        continue
      }
      it(scenario.title, scenario.given ?? {}, async ({ door, folder, staysHere }) => {
        const material = await makeTemporaryFolder(door.user)
        try {
          const places = [door.root + folder, material.path]
          if (scenario.prepare !== undefined) await bash(scenario.prepare, places, { user: door.user })
          await door.readdir(folder)
          door.behind.clearCalls()
          const { stdout } = await bash(scenario.act, places, { user: door.user })
          await door.behind.waitUntilSent()
          await door.behind.waitFor(folder, scenario.after)
          if (scenario.calls !== undefined) door.behind.expectCalls(folder, scenario.calls)
          door.behind.expectUploads(folder, Object.keys(scenario.after))
          if (scenario.says !== undefined) expect(stdout).toBe(scenario.says)

          const shown = [...(await treeOf(door, folder))].filter(([, content]) => content !== undefined)
          const wanted = { ...scenario.after, ...scenario.staysHere }
          expect(shown.map(([name]) => name).sort()).toEqual(Object.keys(wanted).sort())
          for (const [name, content] of shown) {
            expect(content?.equals(Buffer.from(wanted[name] as Uint8Array)), name).toBe(true)
          }
          for (const name of Object.keys(scenario.staysHere ?? {})) staysHere(name)
        } finally {
          await material.remove()
        }
      })
    }
  }
}
