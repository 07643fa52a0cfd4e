// The end of a conflict, in words: for the command line and the page.

import type { Keep, Resolved } from './resolve-conflict.ts'

export function resolvedText({ document, copies }: Resolved, keep: Keep): string {
  const names = copies.join(', ')
  switch (keep) {
    case 'mine':
      return `Kept your version of ${document}; deleted ${names}`
    case 'theirs':
      return `${document} is now their version, which was ${names}`
    case 'both':
      return `Kept both: ${document} and ${names}`
  }
}
