// Permission of a request to change resources: its `If` header must hold, and it must submit the tokens of their locks.

import type { Lock, Locks } from './locks.ts'
import { parseIfHeader, tokensIn, type Condition } from './if-header.ts'
import { entityTag } from './entity-tag.ts'
import { hrefOf, namesOfTarget, pathOf } from './names.ts'
import { Refused } from './refused.ts'
import type { PathWalk } from './path-walk.ts'

export interface PermissionRequest {
  readonly walk: PathWalk
  readonly locks: Locks
  /** The request's own resource. */
  readonly names: readonly string[]
  readonly ifHeader: string | undefined
}

/** A resource to be changed. `one`: itself, or its list of names; `tree`: itself and all below. */
export interface Change {
  readonly names: readonly string[]
  readonly reach: 'one' | 'tree'
}

/** Throws Refused: 412 if the `If` header does not hold, 423 if the token of a lock is not in it. */
export async function checkPermission(request: PermissionRequest, changes: readonly Change[]): Promise<void> {
  const submitted = await checkIfHeader(request)
  for (const { names, reach } of changes) {
    const path = pathOf(names)
    const { locks } = request
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

/** Repeats the check of the locks after a long body, without the `If` header: locks of the request itself may have expired. */
export function checkLocksAgain({ locks, ifHeader }: PermissionRequest, { names }: Change): void {
  const submitted = ifHeader === undefined ? new Set<string>() : tokensIn(parseIfHeader(ifHeader))
  checkLocks(locks.covering(pathOf(names)), submitted)
}

/** Throws Refused (423) if no token of these locks was submitted. One of several shared locks is enough. */
function checkLocks(locks: readonly Lock[], submitted: ReadonlySet<string>): void {
  const [first] = locks
  if (first === undefined || locks.some(({ token }) => submitted.has(token))) return
  const href = hrefOf(first.path.split('/').slice(1), false)
  throw new Refused(423, 'somebody else is editing it', { condition: 'lock-token-submitted', href })
}

/** Resolves with the tokens in the `If` header. Throws Refused (412) if it does not hold. */
async function checkIfHeader(request: PermissionRequest): Promise<ReadonlySet<string>> {
  if (request.ifHeader === undefined) return new Set()
  const lists = parseIfHeader(request.ifHeader)
  for (const { target, conditions } of lists) {
    const names = target === undefined ? request.names : namesOfTarget(target)
    const isTrue = await Promise.all(conditions.map((condition) => holds(request, names, condition)))
    if (isTrue.every(Boolean)) return tokensIn(lists)
  }
  throw new Refused(412, 'the document or its lock is not the expected one')
}

async function holds(
  { walk, locks }: PermissionRequest,
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
