// Actions on a whole drive: pause, unmount, mount, pins, cache, key.

import { formatBytes } from '../amounts.ts'
import { ask } from '../daemon/control-client.ts'
import type { Action, ActionOptions } from './action.ts'
import { pathIn, targetOf } from './form-target.ts'
import { findById } from './page-data.ts'
import { Refused } from './refused.ts'

/** How long an unmount sends what is left, and waits for programs that use the drive. */
const unmountLimits = { timeoutMs: 10 * 60_000, busyMs: 10_000 }

export const driveActions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['/pause', pause],
  ['/resume', resume],
  ['/unmount', unmount],
  ['/mount', mount],
  ['/mount-again', mountAgain],
  ['/pin', pin],
  ['/unpin', unpin],
  ['/free-space', freeSpace],
  ['/new-key', newKey],
])

async function pause(form: URLSearchParams): Promise<string> {
  const { socketPath, found } = await targetOf(form)
  await ask(socketPath, 'pause', {})
  return `Paused: nothing is sent from ${found.mountpoint} until you go on`
}

async function resume(form: URLSearchParams): Promise<string> {
  const { socketPath, found } = await targetOf(form)
  await ask(socketPath, 'resume', {})
  return `Sending again from ${found.mountpoint}`
}

async function unmount(form: URLSearchParams, { signal }: ActionOptions): Promise<string> {
  const { socketPath, found } = await targetOf(form)
  const { unsent, isDetached } = await ask(
    socketPath,
    'unmount',
    { force: false, ...unmountLimits },
    { signal },
  )
  const left =
    unsent.length === 0
      ? ''
      : `; ${unsent.length === 1 ? '1 change is' : `${unsent.length} changes are`} kept here, and sent after the next mount`
  return isDetached
    ? `${found.mountpoint} goes when the programs that use it have ended${left}`
    : `Unmounted ${found.mountpoint}${left}`
}

/** Mounts a drive with a card on the page, whose daemon is gone. */
async function mount(form: URLSearchParams, { cli }: ActionOptions): Promise<string> {
  const found = await findById(form.get('drive') ?? '')
  if (found?.record === undefined) throw new Refused(409, 'this drive is not there any more')
  return cli.mount(found.record.stateDir)
}

/** Mounts a drive of the list “Not mounted”, by its `UnmountedDrive.id`. */
async function mountAgain(form: URLSearchParams, { cli }: ActionOptions): Promise<string> {
  return cli.mount(form.get('id') ?? '')
}

async function pin(form: URLSearchParams, { cli }: ActionOptions): Promise<string> {
  const { found, socketPath } = await targetOf(
    new URLSearchParams({ drive: form.get('drive') ?? '', path: '/' }),
  )
  const path = pathIn(found, form.get('path') ?? '')
  const answer = await ask(socketPath, 'pin', { path })
  if (answer.kind === 'no-room') throw new Refused(409, cli.describeNoRoom(path, answer))
  return answer.isAway
    ? `${path} is fetched when the service is back, and stays on this machine`
    : `${path} is fetched, and stays on this machine`
}

async function unpin(form: URLSearchParams): Promise<string> {
  const { socketPath, path } = await targetOf(form)
  await ask(socketPath, 'unpin', { path })
  return `${path} stays only as long as there is room`
}

async function freeSpace(form: URLSearchParams): Promise<string> {
  const { socketPath } = await targetOf(form)
  const { cachedBytes } = await ask(socketPath, 'clearCache', { withPinned: false })
  return `Freed ${formatBytes(cachedBytes)}; what is pinned or not sent stays`
}

async function newKey(form: URLSearchParams, { cli }: ActionOptions): Promise<string> {
  const { found, socketPath } = await targetOf(form)
  const sentence = await cli.takeKey(found.record?.baseUrl ?? '', form.get('key') ?? '')
  // Waiting changes are sent now; when the old key is refused, the drive reads the new one.
  await ask(socketPath, 'retry', { path: '/' })
  return sentence
}
