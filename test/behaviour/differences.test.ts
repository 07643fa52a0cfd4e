// The table of differences names cases that exist: a row left behind by a renamed case would skip nothing, unseen.

import { expect, it } from 'vitest'

import { differences } from '../support/doors.ts'
import type { MountDoor } from '../support/open-mount.ts'
import { faults } from './faults.ts'
import { operations } from './operations.ts'
import { programs } from './programs.ts'
import { promises } from './promises.ts'
import type { Topic } from './topic.ts'

it('every row of the table of differences names a case', () => {
  const topics: Readonly<Record<string, Topic<MountDoor>>> = {
    ...operations,
    ...programs,
    ...promises,
    ...faults,
  }
  const cases = new Set<string>()
  for (const [topic, register] of Object.entries(topics)) {
    const note = (title: string): void => void cases.add(`${topic}: ${title}`)
    register(
      Object.assign(note, { skip: (title: string) => note(title.replace(/ \(not installed: .*\)$/, '')) }),
    )
  }
  const rows = Object.values(differences).flatMap((row) => Object.keys(row))
  expect(rows.filter((row) => !cases.has(row))).toEqual([])
})
