// Documents that show each emblem of a drive, for tests with file managers.

import { join } from 'node:path'
import { type Desk, inDrive } from './desk.ts'

/** The ground of each emblem, as src/desktop/emblems draws it. */
export const emblemColours = {
  sending: '#1c71d8',
  waiting: '#5e5c64',
  refused: '#c01c28',
  conflict: '#e5a50a',
  pinned: '#26a269',
}

export interface EmblemDrive {
  readonly folder: string
  /** Begins to save a document that takes minutes. */
  readonly send: () => Promise<unknown>
  /** Lets the service take the document that waits. */
  readonly endWaiting: () => Promise<unknown>
}

/** Mounts a drive with a new folder `name` that has a document for each emblem; `sending` comes with `send`. */
export async function mountWithEmblems(desk: Desk, name: string): Promise<EmblemDrive> {
  const { faults } = desk.testService.service
  await desk.testService.other.put(`/${name}/contract.txt`, 'first')
  await desk.testService.other.put(`/${name}/Pinned minutes.txt`, 'pinned')
  const drive = await desk.mount(name, '--close-wait', '0', '--bwlimit', '40K')
  const folder = join(drive, name)
  await desk.docmount('pin', join(folder, 'Pinned minutes.txt'), '--wait')
  await inDrive('cat', join(folder, 'contract.txt'))
  await desk.testService.other.put(`/${name}/contract.txt`, 'theirs, which is longer')
  await desk.save(join(folder, 'contract.txt'), 'ours')
  faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', path: `/${name}/Refused offer.txt` })
  const over = faults.inject(
    { kind: 'status', status: 503 },
    { method: 'PUT', path: `/${name}/Waiting plan.txt` },
  )
  await desk.save(join(folder, 'Refused offer.txt'), 'refused')
  await desk.save(join(folder, 'Waiting plan.txt'), 'waiting')
  const large = join(folder, 'Sending report.txt')
  return {
    folder,
    send: () => inDrive('sh', '-c', 'head -c 20000000 /dev/zero | tr "\\0" x > "$1"', 'sh', large),
    endWaiting: () => {
      over()
      return desk.docmount('retry', join(folder, 'Waiting plan.txt'))
    },
  }
}
