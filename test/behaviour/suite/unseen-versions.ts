// A program saves over a version of another client's that nobody here has seen.

import { expect } from 'vitest'

import type { DocmountDoor } from '../../support/docmount-door.ts'
import { savePatterns } from '../../support/save-patterns.ts'
import { waitUntil } from '../../support/wait-until.ts'
import type { Topic } from '../topic.ts'

export const unseenVersions: Topic<DocmountDoor> = (it) => {
  for (const { name, save } of savePatterns) {
    it(
      `what was stored since a program read it is kept beside a save by ${name}`,
      { 'a.txt': 'first' },
      async ({ door, folder, at }) => {
        expect((await door.readFile(at('a.txt'))).toString()).toBe('first')
        await door.testService.other.put(at('a.txt'), 'theirs, longer')
        await listedAnew(door, folder, at('beacon.txt'))
        await save(door, at('a.txt'), 'ours')
        const documents = await settled(door, folder)
        expect(documents.get('a.txt')).toBe('ours')
        expect(beside(documents)).toEqual(['theirs, longer'])
      },
    )

    it(
      `a program that reads before it saves makes no copy, by ${name}`,
      { 'a.txt': 'first' },
      async ({ door, folder, at }) => {
        for (let round = 1; round <= 3; round++) {
          await door.testService.other.put(at('a.txt'), `theirs ${round}, longer`)
          await waitUntil(
            'their version to be read',
            async () => (await door.readFile(at('a.txt'))).toString() === `theirs ${round}, longer`,
          )
          await save(door, at('a.txt'), `ours ${round}`)
          await save(door, at('a.txt'), `ours ${round} again`)
          const documents = await settled(door, folder)
          expect(documents.get('a.txt')).toBe(`ours ${round} again`)
          expect(beside(documents)).toEqual([])
        }
      },
    )
  }

  it(
    'what was stored since is kept also from a program that goes on saving what it saved before',
    { 'x.txt': 'x' },
    async ({ door, folder, at }) => {
      await door.writeFile(at('a.txt'), 'ours')
      await settled(door, folder)
      await door.testService.other.put(at('a.txt'), 'theirs, longer')
      await listedAnew(door, folder, at('beacon.txt'))
      await door.writeFile(at('a.txt'), 'ours again')
      const documents = await settled(door, folder)
      expect(documents.get('a.txt')).toBe('ours again')
      expect(beside(documents)).toEqual(['theirs, longer'])
    },
  )

  it(
    'what is appended to a version that nobody read goes on from that',
    { 'a.txt': 'first' },
    async ({ door, folder, at }) => {
      expect((await door.readFile(at('a.txt'))).toString()).toBe('first')
      await door.testService.other.put(at('a.txt'), 'theirs, longer')
      await listedAnew(door, folder, at('beacon.txt'))
      await door.appendFile(at('a.txt'), '; more')
      const documents = await settled(door, folder)
      expect(documents.get('a.txt')).toBe('theirs, longer; more')
      expect(beside(documents)).toEqual([])
    },
  )
}

/** Resolves once a listing shows `beacon`, put there by another client: earlier listings are old then. */
async function listedAnew(door: DocmountDoor, folder: string, beacon: string): Promise<void> {
  await door.testService.other.put(beacon, 'here')
  await waitUntil('the folder to be listed anew', async () =>
    (await door.readdir(folder)).includes(beacon.slice(beacon.lastIndexOf('/') + 1)),
  )
}

async function settled(door: DocmountDoor, folder: string): Promise<Map<string, string>> {
  await waitUntil('all to be sent', async () => (await door.unsent()) === 0)
  const documents = await waitUntil('the folder', () => door.testService.other.documents(folder))
  return new Map([...documents].map(([name, bytes]) => [name, bytes.toString()]))
}

/** The contents of conflict copies. */
function beside(documents: ReadonlyMap<string, string>): string[] {
  return [...documents].filter(([name]) => name.includes(' (conflict ')).map(([, content]) => content)
}
