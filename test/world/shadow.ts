// The shadow of the tree: what each folder shows, computed by the ledger's pure function from the listings and the rows that
// there are, is what the tree answers: the same names, and the same version at each. Each difference is a defect
// of one of the two.

import { empties, type Intention } from '../../src/content/intention.ts'
import { folderRows, jobsByPath } from '../../src/fs/control/report.ts'
import type { Superblock } from '../../src/fs/superblock.ts'
import { differencesIn } from '../../src/ledger/report.ts'
import { folderOf, nameOf } from '../../src/path.ts'

type Shadowed = Pick<Superblock, 'tree' | 'queue'>
type Jobs = ReturnType<typeof jobsByPath>

/** Throws where the tree shows something else than it should. No call may be in the midst of a transaction. */
export function checkShadow(sb: Shadowed): void {
  const jobs = jobsByPath(sb)
  for (const { intention } of sb.queue.jobs()) checkChange(sb, intention, jobs)
  for (const folder of folderRows(sb)) {
    const [difference] = differencesIn(folder)
    if (difference !== undefined) throw new Error(`shadow: ${difference}`)
  }
}

/** Throws unless the path of a change shows the content that the change carries, or is being written to. */
function checkChange({ queue, tree }: Shadowed, intention: Intention, jobs: Jobs): void {
  const { kind, path, spool } = intention
  const last = jobs.get(path)?.findLast((job) => job.intention.path === path || empties(job.intention, path))
  if (kind !== 'put' || last?.intention !== intention) return
  const folder = tree.find(folderOf(path))
  const node = folder === undefined ? undefined : tree.keptChild(folder, nameOf(path))
  if (node === undefined || node.folder !== undefined)
    throw new Error(`shadow: ${path} is to be sent, and shows ${said(node)}`)
  const isIt = queue.find(path) === node.job && (spool === undefined || node.content?.id === spool)
  if (!isIt && !node.isDirty)
    throw new Error(`shadow: ${path} shows ${said(node)}, to be sent is ${JSON.stringify(intention)}`)
}

function said(node: { readonly kind: string } | undefined): string {
  return node === undefined ? 'nothing' : `a ${node.kind}`
}
