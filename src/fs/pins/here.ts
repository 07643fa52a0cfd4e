// How much of a document is on this machine, as the disk cache knows without opening a file.

import type { DiskCache } from '../../content/disk/disk-cache.ts'
import type { Here } from '../status.ts'
import type { PinStore } from './pin-store.ts'
import type { FoundDocument } from './survey.ts'

export interface HereParts {
  readonly reader: { readonly disk: DiskCache }
  readonly pinStore: PinStore
}

export function hereOf({ reader, pinStore }: HereParts, document: FoundDocument): Here {
  const { path, version, bytes } = document
  const isPinned = pinStore.pinOf(path) !== undefined
  // Unsent or never sent, or empty: all of it is here.
  if (version === undefined || version.size === 0) return isPinned ? 'pinned' : 'cached'
  const { held, isInPlace } = reader.disk.held(version, bytes)
  if (held === 'whole') return isPinned && isInPlace ? 'pinned' : 'cached'
  return held === 'part' ? 'partly' : 'no'
}
