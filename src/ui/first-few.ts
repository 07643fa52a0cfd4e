// Long lists, limited to twenty rows.

import { html, type Html } from './html.ts'

const most = 20

/** Returns the first twenty rows, and one with the number of the others, which `command` lists. */
export function firstFew(rows: readonly Html[], command: string = 'docmount status'): Html[] {
  if (rows.length <= most) return [...rows]
  return [
    ...rows.slice(0, most),
    html`<li class="more">and ${rows.length - most} more: <code>${command}</code></li>`,
  ]
}
