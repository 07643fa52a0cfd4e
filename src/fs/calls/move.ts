// What a rename moves, from where to where.

import type { Node } from '../tree/node.ts'

/** Where a node goes. */
export interface Move {
  readonly node: Node
  readonly from: Node
  readonly to: Node
  readonly name: string
  /** What has that name now. */
  readonly target: Node | undefined
}
