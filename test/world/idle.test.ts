// A drive that nobody asks for anything makes few calls, and seldom wakes the machine.

import { expect, it } from 'vitest'
// Loaded by the sources when they first need it, which takes real time.
import 'file-type'
import { chance } from '../model/chance.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { EventQueue, promisesFollowed } from './events.ts'
import { ServiceModel, someHabits } from './service-model.ts'
import { SimulatedDrive, worldBeganAt } from './simulated-drive.ts'
import { SimulatedNetwork } from './simulated-network.ts'

const hourMs = 3_600_000

it('a backup that stays beside its document, and what cannot be sent, cost no call a minute', async () => {
  const temporary = await makeTemporaryFolder()
  const [events, luck] = [new EventQueue(), chance(1)]
  const service = new ServiceModel(someHabits(luck), luck, () => worldBeganAt + events.now)
  const network = new SimulatedNetwork(events, luck, service)
  const drive = new SimulatedDrive({ root: temporary.path, events, network, chance: luck, onLog() {} })
  /** Lets so much time go by. */
  async function pass(ms: number): Promise<void> {
    for (const until = events.now + ms; events.nextAt <= until;) await events.next()
  }
  /** Lets time go by until it is done. */
  async function done<T>(work: Promise<T> | undefined): Promise<T | undefined> {
    const state = { isOver: false }
    void work?.finally(() => (state.isOver = true)).catch(() => {})
    await promisesFollowed()
    while (!state.isOver) if (!(await events.next())) throw new Error('nothing will ever happen')
    return work
  }
  try {
    await done(drive.start({ cacheTtlMs: 30_000, closeWaitMs: 10_000, undoMs: 0, undoFetchBytes: 0 }))
    await done(drive.calls?.writeFile('/a.txt', 'first'))
    await done(drive.calls?.rename('/a.txt', '/a.txt~'))
    await done(drive.calls?.writeFile('/a.txt', 'second'))
    const noDocument = drive.calls?.writeFile('/b.tmp', Buffer.from([0, 1, 2, 3, 0xff]))
    await expect(done(noDocument)).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await pass(hourMs)
    const { get } = service.calls
    const { count } = events
    await pass(10 * hourMs)
    expect(drive.fileSystem?.status().localOnly.map(({ path }) => path)).toEqual(['/a.txt~', '/b.tmp'])
    expect(service.calls.get - get).toBeLessThanOrEqual(20)
    // Each of the two is looked at once a minute; nothing else wakes the machine but now and then.
    expect(events.count - count).toBeLessThan(10 * 270)
    // The drive knows without asking the service that the backup is none any more.
    await done(drive.calls?.unlink('/a.txt'))
    await pass(120_000)
    expect([...service.documents.keys()]).toEqual(['/a.txt~'])
  } finally {
    drive.kill()
    await temporary.remove()
  }
})
