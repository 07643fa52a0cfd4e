// Other clients’ changes in a folder: what it showed before an answer of the service, compared with what it shows now. Names that
// are decided here are left out: the kernel saw those changes. A new version of a document that has a node is told where the node
// takes it up (`Tree.overtaken`).

import { fingerprintOf, isSameVersion } from '../../content/fingerprint.ts'
import type { Told } from '../../ledger/view.ts'
import type { Finding } from '../operations.ts'
import type { ListedNames } from './listed-names.ts'
import type { Node } from './node.ts'

export interface Shown {
  /** The record of a name in the listing before, unless the name was hidden here. */
  readonly before: (name: string) => Told | undefined
  readonly namesBefore: Iterable<string>
  readonly now: ListedNames
  readonly wasOurs: (name: string) => boolean
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
  const gone = (name: string, told: Told | undefined): void => {
    const node = nodesBefore.get(name)
    const kind = node?.kind ?? told?.kind ?? 'file'
    findings.push({ what: 'gone', name, kind, ino: node?.ino })
  }
  for (const name of new Set(namesBefore)) {
    if (now.has(name) || isOurs(name)) continue
    const told = before(name)
    if (told !== undefined || wasOurs(name)) gone(name, told)
  }
  for (const record of now.values()) {
    const { name, kind } = record
    if (isOurs(name) || wasOurs(name) || nodesBefore.get(name)?.kind === kind) continue
    const told = before(name)
    if (told !== undefined && told.kind !== kind) gone(name, told)
    if (told?.kind !== kind) findings.push({ what: 'made', name, kind })
    else if (isAnother(told, record)) findings.push({ what: 'changed', name, kind })
  }
  return findings
}

function isAnother(one: Told, other: Told): boolean {
  return (
    one.kind === 'file' && other.kind === 'file' && !isSameVersion(fingerprintOf(one), fingerprintOf(other))
  )
}
