// May this request change what it wants to change? The `If` header first, then the locks of others.

import type { Lock, Locks } from './locks.ts'
import { parseIfHeader, tokensIn, type Condition } from './if-header.ts'
import { entityTag } from './entity-tag.ts'
import { hrefOf, namesOfTarget, pathOf } from './names.ts'
import { Refused } from './refused.ts'
import type { PathWalk } from './path-walk.ts'

export interface Asking {
  readonly walk: PathWalk
  readonly locks: Locks
  /** The request's own resource. */
  readonly names: readonly string[]
  readonly ifHeader: string | undefined
}

/** `one`: the resource or its list of names; `tree`: it and all below. */
export interface Change {
  readonly names: readonly string[]
  readonly reach: 'one' | 'tree'
}

/** Throws Refused: 412 where the `If` header does not hold, 423 where a lock's token is not in it. */
export async function checkPermission(asking: Asking, changes: readonly Change[]): Promise<void> {
  const submitted = await checkIfHeader(asking)
  for (const { names, reach } of changes) {
    const path = pathOf(names)
    const { locks } = asking
    checkLocks(locks.covering(path), submitted)
    if (reach === 'one') continue
    const below = locks.rootedBelow(path)
    for (const root of new Set(below.map((lock) => lock.path))) {
      checkLocks(
        below.filter((lock) => lock.path === root),
        submitted,
      )
    }
  }
}

/** The same for a request that was let in a while ago: of its own locks some may have ended since, which hinders nobody. */
export function checkLocksAgain({ locks, ifHeader }: Asking, { names }: Change): void {
  const submitted = ifHeader === undefined ? new Set<string>() : tokensIn(parseIfHeader(ifHeader))
  checkLocks(locks.covering(pathOf(names)), submitted)
}

/** One of several shared locks is enough. */
function checkLocks(locks: readonly Lock[], submitted: ReadonlySet<string>): void {
  const [first] = locks
  if (first === undefined || locks.some(({ token }) => submitted.has(token))) return
  const href = hrefOf(first.path.split('/').slice(1), false)
  throw new Refused(423, 'somebody else is editing it', { condition: 'lock-token-submitted', href })
}

/** Answers the tokens in it. */
async function checkIfHeader(asking: Asking): Promise<ReadonlySet<string>> {
  if (asking.ifHeader === undefined) return new Set()
  const lists = parseIfHeader(asking.ifHeader)
  for (const { target, conditions } of lists) {
    const names = target === undefined ? asking.names : namesOfTarget(target)
    const isTrue = await Promise.all(conditions.map((condition) => holds(asking, names, condition)))
    if (isTrue.every(Boolean)) return tokensIn(lists)
  }
  throw new Refused(412, 'the document or its lock is not the expected one')
}

async function holds(
  { walk, locks }: Asking,
  names: readonly string[],
  { kind, value, isNegated }: Condition,
): Promise<boolean> {
  if (kind === 'token') {
    return locks.covering(pathOf(names)).some(({ token }) => token === value) !== isNegated
  }
  const found = await walk.find(names)
  const isSame = found?.attributes.kind === 'file' && entityTag(found.attributes) === value
  return isSame !== isNegated
}
