// Activity of a drive: bursts become one line, and what came before stays.

import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { activityFile, ActivityWriter, parseActivity } from '../../src/daemon/activity.ts'
import { type Activity, withoutCounted } from '../../src/daemon/activity-bursts.ts'
import { activityText, burstSentence } from '../../src/daemon/activity-text.ts'
import type { Change } from '../../src/fs/change.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
let writer: ActivityWriter
let told: (string | undefined)[]
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  vi.stubEnv('XDG_STATE_HOME', temporary.path)
  vi.useFakeTimers()
  told = []
  writer = new ActivityWriter('drive', (sum) => told.push(burstSentence(sum)))
})
afterEach(async () => {
  writer.close()
  vi.useRealTimers()
  vi.unstubAllEnvs()
  await temporary.remove()
})

function written(): Activity[] {
  return readFileSync(activityFile('drive'), 'utf8')
    .split('\n')
    .flatMap((line) => parseActivity(line) ?? [])
}
const texts = (): string[] => withoutCounted(written()).map(activityText)
const deleted = (path: string): Change => ({ kind: 'deleted', path })

describe('a burst', () => {
  test('of 10,000 deletes is one line and one sentence, and pushes nothing out', () => {
    writer.add({ kind: 'sent', path: '/f/before.txt', bytes: 4 })
    for (let turn = 0; turn < 10_000; turn++) {
      writer.add(deleted(`/f/${turn % 100}/${turn}.txt`))
      vi.advanceTimersByTime(1)
    }
    writer.add({ kind: 'sent', path: '/f/after.txt', bytes: 4 })
    vi.advanceTimersByTime(60_000)
    expect(texts()).toEqual([
      'sent      /f/before.txt (4 bytes)',
      'sent      /f/after.txt (4 bytes)',
      'deleted   10000 below /f',
    ])
    expect(told).toEqual(['10000 documents below /f were deleted'])
    expect(written().length).toBeLessThan(20)
  })

  test('is told of where it was, from where, and with how many bytes', () => {
    for (let turn = 0; turn < 11; turn++) {
      writer.add({ kind: 'moved', from: `/a/b/${turn}.txt`, path: `/c/${turn}.txt`, bytes: 1024 })
      writer.add({ kind: 'received', path: `/${turn % 2 === 0 ? 'x' : 'xy'}/${turn}.txt`, bytes: 1024 })
      writer.add({ kind: 'refused', path: `/r/${turn}.txt`, reason: 'too large' })
      writer.add({ kind: 'conflict', path: `/k/${turn}.txt`, copy: `/k/${turn} (conflict).txt` })
    }
    vi.advanceTimersByTime(60_000)
    expect(texts()).toEqual([
      'moved     11 from below /a/b to below /c (11.0 KiB)',
      'received  11 below / (11.0 KiB)',
      'refused   11 below /r: too large',
      'conflict  11 below /k: the other version is kept beside each',
    ])
    expect(told.filter((sentence) => sentence !== undefined)).toEqual([
      '11 documents were moved from below /a/b to below /c',
    ])
  })

  test('tells no bytes, origin or reason that is not of all its changes', () => {
    for (let turn = 0; turn < 11; turn++) {
      writer.add({ kind: 'received', path: `/x/${turn}.txt`, ...(turn === 0 ? {} : { bytes: 1024 }) })
      writer.add({
        kind: 'refused',
        path: `/r/${turn}.txt`,
        reason: turn === 0 ? 'too large' : 'no such type',
      })
    }
    vi.advanceTimersByTime(60_000)
    expect(texts()).toEqual(['received  11 below /x', 'refused   11 below /r, for several reasons'])
  })

  test('keeps what a few changes were, at once, so that a kill loses none of them', () => {
    for (let turn = 0; turn < 10; turn++) writer.add(deleted(`/${turn}.txt`))
    expect(texts()).toHaveLength(10)
    vi.advanceTimersByTime(60_000)
    expect(texts()).toHaveLength(10)
    expect(told).toEqual([])
  })

  test('that is not over when the drive ends is written then, and one that goes on and on is told once a minute', () => {
    for (let turn = 0; turn < 100; turn++) {
      writer.add(deleted(`/f/${turn}.txt`))
      vi.advanceTimersByTime(1_000)
    }
    writer.close()
    expect(texts()).toEqual(['deleted   60 below /f', 'deleted   40 below /f'])
  })
})
