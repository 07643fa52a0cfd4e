// WebDAV's `If` header (RFC 4918, section 10.4): lists of conditions on lock tokens and entity tags. One list must hold.

import { Refused } from './refused.ts'

export interface Condition {
  readonly isNegated: boolean
  readonly kind: 'token' | 'tag'
  readonly value: string
}

/** A list, of which all conditions must hold. `target`: address of the resource; undefined for the request's own. */
export interface ConditionList {
  readonly target: string | undefined
  readonly conditions: readonly Condition[]
}

/** Throws Refused (400) for a malformed header. */
export function parseIfHeader(text: string): readonly ConditionList[] {
  const lists: ConditionList[] = []
  let target: string | undefined
  let rest = text.trim()
  while (rest !== '') {
    const tag = /^<([^>]*)>\s*/.exec(rest)
    if (tag !== null) {
      target = tag[1]
      rest = rest.slice(tag[0].length)
      if (!rest.startsWith('(')) throw malformed()
    }
    const list = /^\(((?:\s*(?:Not\s*)?(?:<[^>]*>|\[(?:W\/)?"[^"]*"\]))+)\s*\)\s*/i.exec(rest)
    if (list === null) throw malformed()
    lists.push({ target, conditions: parseList(list[1] ?? '') })
    rest = rest.slice(list[0].length)
  }
  if (lists.length === 0) throw malformed()
  return lists
}

function parseList(text: string): readonly Condition[] {
  return Array.from(text.matchAll(/(Not\s*)?(?:<([^>]*)>|\[((?:W\/)?"[^"]*")\])/gi), (found) => ({
    isNegated: found[1] !== undefined,
    kind: found[2] === undefined ? ('tag' as const) : ('token' as const),
    value: found[2] ?? found[3] ?? '',
  }))
}

/** Returns all lock tokens in the header, also negated ones: a client that names a token has submitted it. */
export function tokensIn(lists: readonly ConditionList[]): ReadonlySet<string> {
  const conditions = lists.flatMap((list) => list.conditions)
  return new Set(conditions.filter(({ kind }) => kind === 'token').map(({ value }) => value))
}

function malformed(): Refused {
  return new Refused(400, 'the If header cannot be read')
}
