// Passes a dropped file to the target of its folder, once per content, and writes the result file.
//
//   written ─close, or rename to a `taken` name─▶ taking ─▶ taken ─write─▶ written
//                                                        └▶ failed: each close fails again until the next write

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

/** The place of a file, now or after a rename. */
export interface DropPlace {
  readonly folder: VirtualNode
  readonly name: string
}

/** Resolves when the target has taken the present content of the file. Throws the failure of its verdict. */
export async function takeUp(
  parts: TakeUpParts,
  file: VirtualNode,
  place: DropPlace,
  signal: AbortSignal,
): Promise<void> {
  const { target } = place.folder
  if (target === undefined || fateOf(place.name, target) === 'kept') return
  // Wait for a take under way: a concurrent close must not send the same rows again.
  while (file.taking !== undefined) await abortable(file.taking, signal)
  if (!isPending(file, place)) {
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

/** True if the target has not had this content yet. Empty content never counts: programs create a file before they write it. */
function isPending({ content, taken }: VirtualNode, { folder, name }: DropPlace): boolean {
  if (content === undefined || content.size === 0) return false
  if (taken === undefined || taken.folder !== folder || taken.version !== content.version) return true
  // The name decides how a file is read, so a failed one is tried again under another name.
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

  const verdict = fateOf(name, target) === 'refused' ? refusal(drop) : await passToTarget(drop, signal)
  const { failure, rowsSent } = verdict
  file.rowsSent = rowsSent
  file.taken = { folder, name, version, failure }
  writeResult(parts, place, verdict)
  if (failure === undefined) return
  parts.log.warn({ file: name, error: failure.message }, 'a dropped file was not taken')
  throw failure
}

function passToTarget({ file, place, target }: Drop, signal: AbortSignal): Promise<Verdict> {
  const bytes = file.content?.bytes() ?? new Uint8Array()
  const rowsSent = file.taken?.folder === place.folder ? file.rowsSent : undefined
  return target.take({ name: place.name, bytes, rowsSent }, signal)
}

function refusal({ place, target }: Drop): Verdict {
  const message = `${place.name}: only ${target.wanted} is taken here`
  return { answer: { errorMessage: message }, failure: new ErrnoError('EINVAL', message) }
}

/** Replaces the result file by a new, complete one, so that no program reads a partial result. */
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
  quota.setSize(result, content.size)
}
