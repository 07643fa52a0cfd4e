// Processor time per save of 2,000 bytes, step by step, in the built spool and journal of a work tree, without service and kernel.

import { join } from 'node:path'
import { tableOf } from './table.mjs'

const warmUp = 500
const bytes = Buffer.alloc(2_000, 7)

export const save = { hasRoots: true, run: measureSaves }

async function measureSaves({ work, roots: [root], options }) {
  const saves = Number(options.count ?? 3000)
  const dist = (file) => import(join(root, 'dist', file))
  const { realWorld } = await dist('world/world.js')
  const { Journal } = await dist('content/spool/journal.js')
  const { Spool } = await dist('content/spool/spool.js')
  const { intend } = await dist('content/intention.js')
  const figures = new Map()
  const measured = async (step, run) => {
    const before = process.cpuUsage()
    const result = await run()
    const { user, system } = process.cpuUsage(before)
    figures.set(step, (figures.get(step) ?? 0) + user + system)
    return result
  }
  const journal = new Journal(work, realWorld())
  const spool = new Spool(join(work, 'spool'), journal.contents, realWorld())
  for (let at = 0; at < warmUp + saves; at++) {
    if (at === warmUp) figures.clear()
    const file = await measured('a spool file is made and written', async () => {
      const made = spool.create(`f${at}.txt`)
      await made.write(0, bytes)
      return made
    })
    await measured('its digest is taken', () => spool.secure(file))
    const { id, digest } = file
    const draft = { kind: 'put', path: `/d/f${at}.txt`, spool: id, size: bytes.length, digest }
    const intention = intend(journal.intentions.nextId(), draft, Date.now())
    await measured('content and intention are journaled', () =>
      journal.transaction(() => {
        journal.intentions.save(intention)
        spool.journal(file, intention.path)
      }),
    )
    await measured('the intention is done', () =>
      journal.transaction(() => journal.intentions.remove(intention.id)),
    )
    await measured('the spool file is removed', () => spool.remove(id))
  }
  journal.close()
  const together = [...figures.values()].reduce((sum, us) => sum + us)
  const lines = [...figures, ['together', together]].map(([step, us]) => [step, (us / saves).toFixed(0)])
  console.log(tableOf(['processor time of a save of 2,000 bytes', 'µs'], lines))
}
