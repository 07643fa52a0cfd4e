// While the service is away, documents are saved and renamed over one another for as long as anybody likes: what is kept of that
// is what is wanted in the end, not each step of the way.

import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chance } from '../../model/chance.ts'
import { useRestartedFileSystem } from '../../support/restarted-file-system.ts'
import { waitUntil } from '../../support/wait-until.ts'

const drive = useRestartedFileSystem({ closeWaitMs: 0 })

/** The service has these and goes away; all of it was listed here, also in an earlier run. */
async function goAway(given: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, content] of given) await drive.service.other.put(path, content)
  await drive.start()
  await drive.calls.readdir('/')
  await drive.fileSystem.close()
  // A database stays locked until its statements are collected.
  const copy = `${drive.stateDir}-listed`
  cpSync(drive.stateDir, copy, { recursive: true })
  drive.stateDir = copy
  await drive.start()
  await drive.calls.readdir('/')
  await drive.service.stop()
}

/** The service is back, and gets these and nothing else. */
async function expectInService(documents: ReadonlyMap<string, string>): Promise<void> {
  await drive.service.start()
  expect(await drive.fileSystem.drain({ timeoutMs: 30_000 })).toEqual([])
  const found = (await drive.service.other.documents('/')) ?? new Map<string, Buffer>()
  const texts = [...found].map(([name, bytes]) => [`/${name}`, bytes.toString()] as const)
  expect(new Map(texts)).toEqual(documents)
}

function unsent(): number {
  return drive.fileSystem.unsent('/').length
}

function contents(): number {
  return readdirSync(join(drive.stateDir, 'spool')).filter((name) => !name.endsWith('.json')).length
}

it('a log that is turned over again and again is a change and a content for each of its names', async () => {
  const given = new Map([['/log.txt', 'today'], ['/log.1.txt', 'yesterday'], ['/log.2.txt', 'the day before']])
  await goAway(given)
  for (let day = 1; day <= 12; day++) {
    await drive.calls.rename('/log.1.txt', '/log.2.txt')
    await drive.calls.rename('/log.txt', '/log.1.txt')
    await drive.calls.writeFile('/log.txt', `day ${day}`)
    if (day === 6) await drive.end()
    if (day === 6) await drive.start()
  }
  expect(unsent()).toBeLessThanOrEqual(2 * given.size)
  await waitUntil('what was saved between to go', () => contents() <= given.size)
  await expectInService(new Map([['/log.txt', 'day 12'], ['/log.1.txt', 'day 11'], ['/log.2.txt', 'day 10']]))
}) // prettier-ignore

it.each([new Map([['/a.txt', 'a']]), new Map([['/b.txt', 'b']])])(
  'a name that is a document and a folder in turn is what it is in the end: %o',
  async (given) => {
    await goAway(given)
    const { calls } = drive
    await calls.writeFile('/seen.txt', 'seen')
    await waitUntil('it to be away', () => drive.fileSystem.status().service === 'away')
    for (let turn = 1; turn <= 5; turn++) {
      await calls.writeFile('/a.txt', `turn ${turn}`)
      await calls.unlink('/a.txt')
      await calls.mkdir('/a.txt')
      await calls.writeFile('/a.txt/b.txt', 'in it')
      await calls.unlink('/a.txt/b.txt')
      await calls.rmdir('/a.txt')
    }
    await calls.writeFile('/a.txt', 'in the end')
    expect(unsent()).toBeLessThanOrEqual(4)
    await expectInService(new Map([...given, ['/seen.txt', 'seen'], ['/a.txt', 'in the end']]))
  },
)

const names = ['/a.txt', '/b.txt', '/c.txt', '/d.txt']
const steps = 150
/** Most changes at each name: those that may be under way, or are still only in the service, and the one wanted there. */
const mostAtName = 4

it.each([1, 2, 3, 4])('however saves, renames, deletes and kills are mixed (mixture %i)', async (seed) => {
  const { pick, weighted } = chance(seed)
  const documents = new Map([['/a.txt', 'a'], ['/b.txt', 'other b']])
  await goAway(documents)
  for (let step = 0; step < steps; step++) {
    const [name, to] = [pick(names), pick(names)]
    const kind = weighted({ save: 4, rename: 5, delete: 0.5, kill: 0.5 })
    if (kind === 'kill') {
      await drive.end()
      await drive.start()
    } else if (kind === 'save') {
      documents.set(name, `step ${step}`)
      await drive.calls.writeFile(name, `step ${step}`)
    } else if (documents.has(name) && name !== to) {
      if (kind === 'rename') documents.set(to, documents.get(name) ?? '')
      documents.delete(name)
      await (kind === 'rename' ? drive.calls.rename(name, to) : drive.calls.unlink(name))
    }
    expect(unsent(), `step ${step}`).toBeLessThanOrEqual(mostAtName * names.length)
  }
  await expectInService(documents)
}) // prettier-ignore

it('a folder renamed away and back, with newer contents each time: after a kill, too, what it holds is known to be ours', async () => {
  for (const name of ['a.txt', 'b.txt']) await drive.service.other.put(`/here/${name}`, name)
  await drive.start()
  const { calls } = drive
  for (const folder of ['/', '/here']) await calls.readdir(folder)
  await drive.service.stop()
  let [from, to] = ['/here', '/there']
  for (let turn = 1; turn <= 4; turn++) {
    await calls.rename(from, to)
    await calls.writeFile(`${to}/a.txt`, `turn ${turn}`)
    ;[from, to] = [to, from]
  }
  await drive.service.start()
  expect(await drive.fileSystem.drain({ timeoutMs: 30_000 })).toEqual([])
  await drive.end()
  await drive.start()
  await drive.calls.writeFile('/here/a.txt', 'saved unseen')
  expect(await drive.fileSystem.drain({ timeoutMs: 30_000 })).toEqual([])
  expect(await drive.calls.readdir('/here')).toEqual(['a.txt', 'b.txt'])
}) // prettier-ignore
