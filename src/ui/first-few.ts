// Long lists, cut where a person stops reading.

import { html, type Html } from './html.ts'

const most = 20

/** The first twenty rows, and how many more there are. */
export function firstFew(rows: readonly Html[]): Html[] {
  if (rows.length <= most) return [...rows]
  return [
    ...rows.slice(0, most),
    html`<li class="more">and ${rows.length - most} more: <code>docmount status</code></li>`,
  ]
}
