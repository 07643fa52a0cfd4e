// Sends a local-only file that was unchanged for a minute, if it is a document by its name and content (see `local-only.ts`).

import { ErrnoError } from '../../errno-error.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { Log } from '../../log.ts'
import { abortAfter } from '../../world/clock.ts'
import type { Listing } from '../tree/listings.ts'
import type { Node } from '../tree/node.ts'
import { whyLocal } from '../tree/scratch.ts'
import { documentsIn, type Undecided } from './undecided.ts'
import { bringHere, type BringParts } from './bring-here.ts'
import { isLinkedLocalOnly } from './local-only.ts'
import type { SubmitParts } from './submit.ts'

/** Age (ms) up to which a known listing may give a reason to keep the file local, without asking the service. */
const believedMs = 3_600_000

export interface SendIfDocumentParts extends BringParts, SubmitParts {
  readonly journal: Journal
  readonly undecided: Undecided
  readonly log: Log
}

/**
 * Sends the file if it is a document; otherwise returns the reason why not. Also returns undefined if the file
 * is open, gone or changed by now: it is checked again later.
 */
export async function sendIfDocument(parts: SendIfDocumentParts, node: Node): Promise<string | undefined> {
  try {
    return await sendDocument(parts, node)
  } catch (error) {
    // The service takes no such type: final, and nothing to warn of.
    if (error instanceof ErrnoError && error.code === 'EOPNOTSUPP') return error.message
    const why = `could not be looked at: ${(error as Error).message}`
    parts.log.warn(
      { path: node.path, error: String(error) },
      'a file that is on this machine only cannot be sent yet',
    )
    return why
  }
}

async function sendDocument(parts: SendIfDocumentParts, node: Node): Promise<string | undefined> {
  const { parent } = node
  if (parent === undefined || node.door.writeHandles > 0) return undefined
  const { tree, clock } = parts
  const whyHeldBack = (listing: Listing): string | undefined =>
    whyLocal(node.name, documentsIn(tree, parent, listing), node.local)
  // A reason that needs no listing, since no other document has to be beside it.
  const byName = whyLocal(node.name, () => false, node.local)
  if (byName !== undefined) return byName
  const known = tree.listings.known(parent)
  const isOfLate = known !== undefined && clock.steady() - known.requestedAt < believedMs
  const why = whyHeldBack(isOfLate ? known : await tree.listing(parent))
  if (why !== undefined) return why
  if (node.content === undefined && node.version === undefined) return 'its content is missing'
  await bringHere(parts, node, abortAfter(clock, 600_000))
  const { content } = node
  if (content === undefined) return undefined
  await parts.undecided.checkContent(node.path, content)
  // Only a fresh listing decides that the file is sent.
  const whyNow = whyHeldBack(await tree.listing(parent))
  if (whyNow !== undefined) return whyNow
  const epoch = content.epoch
  await parts.spool.secure(content)
  // It may have been opened, unlinked or replaced meanwhile.
  if (!isLinkedLocalOnly(node) || node.door.writeHandles > 0 || node.content !== content) return undefined
  parts.saves.submitDecided(node, content, epoch)
  parts.log.info({ path: node.path }, 'left alone, so it is a document: it is sent')
  return undefined
}
