import { expect, test } from 'vitest'
import type { Calls } from '../support/door.ts'
import { chance } from './chance.ts'
import { Loss } from './loss.ts'
import { Model } from './model.ts'
import { Worker } from './worker.ts'

/** At work on a drive that shows these documents, and dies of an unlink. */
function workerOn(shown: Map<string, Buffer>): { worker: Worker; kill: () => void } {
  let life = 0
  const file = { write: async () => {}, truncate: async () => {}, close: async () => {} }
  const calls = {
    readdir: async () => [...shown.keys()].map((path) => path.slice('/w/'.length)),
    stat: async (path: string) => ({ kind: 'file', size: shown.get(path)?.length ?? 0, mtimeNs: 0n }),
    readFile: async (path: string) => shown.get(path),
    writeFile: async () => {},
    open: async () => file,
    unlink: async () => {
      life++
      throw Object.assign(new Error('cut off'), { code: 'ENOTCONN' })
    },
  } as unknown as Calls
  const worker = new Worker({
    renamesFolders: false,
    folder: '/w',
    chance: chance(1),
    calls: () => calls,
    life: () => life,
    onAction: () => {},
  })
  return { worker, kill: () => void life++ }
}

test.each([
  ['emptied right before a kill may hold what it held before', '', true, false, true],
  ['emptied may hold it, too, after an unlink that the kill cut off', '', true, true, true],
  ['emptied holds nothing where no kill came', '', false, false, false],
  ['saved right before a kill holds what was saved', 'new', true, false, false],
  ['saved, and unlinked by a call that was cut off, is that or nothing', 'new', true, true, false],
])('a document %s', async (_, content, isKilled, isUnlinked, isRight) => {
  const old = Buffer.from('old')
  const { worker, kill } = workerOn(new Map([['/w/a.txt', old]]))
  worker.model = new Model(new Map([['/w/a.txt', old]]))
  await worker.perform({ kind: 'write', path: '/w/a.txt', content: Buffer.from(content) })
  if (isKilled && !isUnlinked) kill()
  if (isUnlinked) await worker.perform({ kind: 'unlink', path: '/w/a.txt' })
  const checked = worker.check('afterwards')
  if (isRight) expect(await checked).toBe(true)
  else await expect(checked).rejects.toThrow(Loss)
})
