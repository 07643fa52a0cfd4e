// The suite at a real mount through the `kernel` driver that an ordinary user made, for whom root runs it: the daemon, the
// programs and every call are that user's.

import { readFile, stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { openMount, type MountDoor } from '../support/open-mount.ts'
import { isRoot } from '../support/ordinary-user.ts'
import { bash } from '../support/run.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { behaveMounted } from './mounted-topics.ts'
import { operations } from './operations.ts'
import { programs } from './programs.ts'
import { promises } from './promises.ts'
import type { Topic } from './topic.ts'

const ownership: Topic<MountDoor> = (it) => {
  it("the daemon, the calls and the files are the user's", async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'mine')
    const { stdout } = await bash('stat -c %u "$1"; id -u', [door.root + at('a.txt')], { user: door.user })
    const uid = door.user?.uid
    expect(stdout).toBe(`${uid}\n${uid}\n`)
    expect((await stat(`/proc/${door.drive.pid}`)).uid).toBe(uid)
  })

  it('nobody else is let in, root included', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'mine')
    await expect(readFile(door.root + at('a.txt'))).rejects.toThrow('EACCES')
  })

  it('a file is not given away, and taken by its owner', async ({ door, at }) => {
    await door.writeFile(at('a.txt'), 'mine')
    const line = 'chown 0 "$1" 2>&1 || true; chown "$(id -u):$(id -g)" "$1" && echo mine'
    const { stdout } = await bash(line, [door.root + at('a.txt')], { user: door.user })
    expect(stdout).toMatch(/Operation not permitted\nmine\n$/)
  })
}

const topics = isThorough ? { ownership, ...operations, ...programs, ...promises } : { ownership }
if (isRoot) {
  leaveOut('the whole suite at a mount of an ordinary user, not only whose it is')
  behaveMounted('kernel-user', openMount('kernel-user'), topics)
} else it.skip('not needed here: an ordinary user runs mount-kernel.test.ts')
