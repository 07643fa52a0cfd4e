// Actions on what programs deleted and replaced: list it on the page, and bring it back.

import { ask } from '../daemon/control-client.ts'
import type { Action, ActionOptions } from './action.ts'
import { pathIn, targetOf } from './form-target.ts'
import { findById } from './page-data.ts'
import { Refused } from './refused.ts'

export const undoActions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['/show-former', showFormer],
  ['/hide-former', hideFormer],
  ['/restore', restore],
])

async function showFormer(form: URLSearchParams, { showFormer: show }: ActionOptions): Promise<undefined> {
  const drive = form.get('drive') ?? ''
  const found = await findById(drive)
  if (found === undefined) throw new Refused(409, 'this drive is not there any more')
  show(drive, pathIn(found, form.get('path') ?? ''))
}

async function hideFormer(form: URLSearchParams, { showFormer: show }: ActionOptions): Promise<undefined> {
  show(form.get('drive') ?? '', undefined)
}

/** Brings back the version of the time `at`; without it, what was deleted in the folder. */
async function restore(form: URLSearchParams, { signal }: ActionOptions): Promise<string> {
  const { socketPath, path } = await targetOf(form)
  const at = form.get('at') ?? undefined
  const { restored, left } = await ask(socketPath, 'restore', { path, at }, { signal })
  const [first, ...others] = restored
  const back = first === undefined ? [] : [others.length === 0 ? first.path : `${restored.length} documents`]
  return [
    ...back.map((what) => `${what} ${others.length === 0 ? 'is' : 'are'} back`),
    ...left.slice(0, 3).map((each) => `${each.path} is not: ${each.why}`),
    ...(left.length > 3 ? [`and ${left.length - 3} more are not`] : []),
  ].join('; ')
}
