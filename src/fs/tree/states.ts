// Table of the states that a document may be in: every combination of its parts that is not in the table is a defect. It holds
// whenever no call is at work on the document; docs/architecture.md says how one state becomes another.

import type { Node } from './node.ts'

/** Where the service has the version that the node shows: at the node's own path, or elsewhere. */
type Stored = 'nowhere' | 'home' | 'elsewhere'
/** Content in the spool: the same as in the service (or, local-only, in the journal), or changed since. */
type Content = 'none' | 'clean' | 'dirty'
/**
 * The change under way: none, a journaled one, a copy that the service is to make at the next close, or none ever, since the
 * document is only here.
 */
type Unsent = 'nothing' | 'job' | 'copy' | 'only here'

export interface DocumentState {
  readonly name: string
  readonly stored: readonly Stored[]
  readonly content: readonly Content[]
  readonly unsent: readonly Unsent[]
}

export const documentStates: readonly DocumentState[] = [
  { name: 'as listed', stored: ['home'], content: ['none'], unsent: ['nothing'] },
  { name: 'brought here', stored: ['home', 'elsewhere'], content: ['clean'], unsent: ['nothing'] },
  { name: 'being written', stored: ['nowhere', 'home', 'elsewhere'], content: ['dirty'], unsent: ['nothing'] },
  { name: 'saved', stored: ['nowhere', 'home', 'elsewhere'], content: ['clean', 'dirty'], unsent: ['job'] },
  { name: 'being moved', stored: ['home', 'elsewhere'], content: ['none'], unsent: ['job'] },
  { name: 'to be copied', stored: ['elsewhere'], content: ['none'], unsent: ['copy'] },
  { name: 'only here', stored: ['nowhere'], content: ['clean', 'dirty'], unsent: ['only here'] },
  { name: 'kept backup', stored: ['elsewhere'], content: ['none'], unsent: ['only here'] },
] // prettier-ignore

/** Returns the state of a document that has a name; undefined if the table has none for it. */
export function stateOf(node: Node): DocumentState | undefined {
  const [stored, content, unsent] = [storedOf(node), contentOf(node), changeOf(node)]
  return documentStates.find(
    (state) =>
      state.stored.includes(stored) && state.content.includes(content) && state.unsent.includes(unsent),
  )
}

/** Returns the contradictions in a node, whatever its state; one sentence each. */
export function contradictions(node: Node): string[] {
  const { stored, local, unsent } = node
  const rules: readonly (readonly [string, boolean])[] = [
    ['a folder has no content and nothing of its own to send', node.folder === undefined || isBare(node)],
    ['what is only here has no job', !local.isLocalOnly || unsent.job === undefined],
    ['what is only here, with content, is not in the service', !local.isLocalOnly || isInOnePlace(node)],
    ['a copy of the service’s making has no content here', !unsent.isCopy || local.content === undefined],
    ['a copy is shown from where its original is', !unsent.isCopy || stored.elsewhere !== undefined],
    ['an older place is known only while a rename is at work', unsent.movesFrom === undefined],
    ['what was written is content, or a copy', !local.isWritten || hasContentOrIsCopy(node)],
    ['what is as listed may be replaced', !isAsListed(node) || unsent.base === stored.fingerprint],
  ]
  return rules.filter(([, holds]) => !holds).map(([rule]) => rule)
}

/** Returns a description of a node that is in no state, or contradicts itself. */
export function described(node: Node): string {
  return `${node.path}: ${storedOf(node)} | ${contentOf(node)} | ${changeOf(node)}`
}

function storedOf({ stored }: Node): Stored {
  if (stored.record === undefined) return 'nowhere'
  return stored.elsewhere === undefined ? 'home' : 'elsewhere'
}

function contentOf({ local }: Node): Content {
  if (local.content === undefined) return 'none'
  return local.isDirty ? 'dirty' : 'clean'
}

function changeOf({ local, unsent }: Node): Unsent {
  if (local.isLocalOnly) return 'only here'
  if (unsent.job !== undefined) return 'job'
  return unsent.isCopy ? 'copy' : 'nothing'
}

function isBare({ stored, local, unsent }: Node): boolean {
  return (
    stored.record === undefined &&
    local.content === undefined &&
    !local.isLocalOnly &&
    unsent.job === undefined
  )
}

function isInOnePlace({ stored, local }: Node): boolean {
  return local.content === undefined || stored.record === undefined
}

function hasContentOrIsCopy({ local, unsent }: Node): boolean {
  return local.content !== undefined || unsent.isCopy
}

function isAsListed(node: Node): boolean {
  return node.folder === undefined && stateOf(node)?.name === 'as listed'
}
