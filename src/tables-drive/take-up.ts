// Giving a dropped file to the table it was dropped for, once per content, and its result beside it.
//
//   written ─close, or a name that is taken─▶ taking ─▶ taken ─write─▶ written
//                                                    └▶ failed: close says so again until something is written

import { abortable } from '../abortable.ts'
import { ErrnoError } from '../errno-error.ts'
import type { Log } from '../log.ts'
import { Content } from './content.ts'
import { fateOf, resultNameOf, resultNamesOf } from './drop-names.ts'
import type { DropTarget, Verdict } from './drop-target.ts'
import type { DropQuota } from './drop-quota.ts'
import type { VirtualNode, VirtualNodes } from './virtual-node.ts'

export interface TakeUpParts {
  readonly nodes: VirtualNodes
  readonly quota: DropQuota
  readonly log: Log
  readonly now: () => number
}

/** Where a file is, or is about to be. */
export interface DropPlace {
  readonly folder: VirtualNode
  readonly name: string
}

/** Resolves when the table has answered for what the file holds now. Throws what its result file tells. */
export async function takeUp(
  parts: TakeUpParts,
  file: VirtualNode,
  place: DropPlace,
  signal: AbortSignal,
): Promise<void> {
  const { target } = place.folder
  if (target === undefined || fateOf(place.name, target) === 'kept') return
  // One at a time: a second close must not send the same rows again.
  while (file.taking !== undefined) await abortable(file.taking, signal)
  if (!isOwed(file, place)) {
    if (file.taken?.failure !== undefined) throw file.taken.failure
    return
  }
  const taking = take(parts, { file, place, target }, signal)
  file.taking = taking.then(
    () => undefined,
    () => undefined,
  )
  try {
    await taking
  } finally {
    file.taking = undefined
  }
}

/** True while the folder was not given this content yet. Empty content is on its way: programs make a file, then fill it. */
function isOwed({ content, taken }: VirtualNode, { folder, name }: DropPlace): boolean {
  if (content === undefined || content.size === 0) return false
  if (taken === undefined || taken.folder !== folder || taken.version !== content.version) return true
  return taken.failure !== undefined && taken.name !== name
}

interface Drop {
  readonly file: VirtualNode
  readonly place: DropPlace
  readonly target: DropTarget
}

async function take(parts: TakeUpParts, drop: Drop, signal: AbortSignal): Promise<void> {
  const { file, place, target } = drop
  const { folder, name } = place
  const version = file.content?.version ?? 0
  for (const resultName of resultNamesOf(name)) {
    const stale = folder.children.get(resultName)
    if (stale !== undefined) parts.nodes.detach(stale)
  }

  const verdict = fateOf(name, target) === 'refused' ? refusal(drop) : await judged(drop, signal)
  const { failure, rowsIn } = verdict
  file.rowsIn = rowsIn
  file.taken = { folder, name, version, failure }
  writeResult(parts, place, verdict)
  if (failure === undefined) return
  parts.log.warn({ file: name, error: failure.message }, 'a dropped file was not taken')
  throw failure
}

function judged({ file, place, target }: Drop, signal: AbortSignal): Promise<Verdict> {
  const bytes = file.content?.bytes() ?? new Uint8Array()
  const rowsIn = file.taken?.folder === place.folder ? file.rowsIn : undefined
  return target.take({ name: place.name, bytes, rowsIn }, signal)
}

function refusal({ place, target }: Drop): Verdict {
  const message = `${place.name}: only ${target.wanted} is taken here`
  return { answer: { errorMessage: message }, failure: new ErrnoError('EINVAL', message) }
}

/** A file of its own each time, complete from the start: whoever waits for it never reads half. */
function writeResult(
  { nodes, quota, now }: TakeUpParts,
  { folder, name }: DropPlace,
  verdict: Verdict,
): void {
  if (!folder.isAttached) return
  const { answer } = verdict
  const isTable = typeof answer === 'string'
  const content = new Content(Buffer.from(isTable ? answer : `${JSON.stringify(answer, undefined, 2)}\n`))
  const result = nodes.add({
    kind: 'file',
    name: resultNameOf(name, isTable ? 'csv' : 'json'),
    parent: folder,
    mode: 0o444,
    mtimeMs: now(),
  })
  result.content = content
  result.taken = { folder, name: result.name, version: content.version, failure: undefined }
  quota.hold(result, content.size)
}
