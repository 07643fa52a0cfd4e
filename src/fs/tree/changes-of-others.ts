// Other clients’ changes in a folder, for a door that watches it: the names shown before a new listing, compared with those of the
// listing. Names of unsent changes of this drive are left out, because the kernel made them. A new version of a document that has a
// node is not found here: `Tree.overtaken` reports it.

import { fingerprintOf, isSameVersion } from '../../content/fingerprint.ts'
import type { Told } from '../../ledger/view.ts'
import type { Finding } from '../operations.ts'
import type { ListedNames } from './listed-names.ts'
import type { Node } from './node.ts'

export interface Shown {
  /** Returns the record of a name in the listing before, unless the name was hidden by a change of this drive. */
  readonly before: (name: string) => Told | undefined
  readonly namesBefore: Iterable<string>
  readonly now: ListedNames
  /** True for names that unsent changes of this drive decided before the listing. */
  readonly wasOurs: (name: string) => boolean
  /** True for names that they decide now. */
  readonly isOurs: (name: string) => boolean
  readonly nodesBefore: ReadonlyMap<string, Node>
}

export function changesOfOthers({
  before,
  namesBefore,
  now,
  wasOurs,
  isOurs,
  nodesBefore,
}: Shown): Finding[] {
  const findings: Finding[] = []
  const reportGone = (name: string, record: Told | undefined): void => {
    const node = nodesBefore.get(name)
    const kind = node?.kind ?? record?.kind ?? 'file'
    findings.push({ what: 'gone', name, kind, ino: node?.ino })
  }
  for (const name of new Set(namesBefore)) {
    if (now.has(name) || isOurs(name)) continue
    const recordBefore = before(name)
    // A name that was ours and is gone now was sent, and then removed by another client.
    if (recordBefore !== undefined || wasOurs(name)) reportGone(name, recordBefore)
  }
  for (const record of now.values()) {
    const { name, kind } = record
    if (isOurs(name) || wasOurs(name) || nodesBefore.get(name)?.kind === kind) continue
    const recordBefore = before(name)
    if (recordBefore !== undefined && recordBefore.kind !== kind) reportGone(name, recordBefore)
    if (recordBefore?.kind !== kind) findings.push({ what: 'made', name, kind })
    else if (isAnother(recordBefore, record)) findings.push({ what: 'changed', name, kind })
  }
  return findings
}

function isAnother(one: Told, other: Told): boolean {
  return (
    one.kind === 'file' && other.kind === 'file' && !isSameVersion(fingerprintOf(one), fingerprintOf(other))
  )
}
