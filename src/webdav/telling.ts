// The same operations, with another door told of what is changed through them: the kernel keeps names and pages, and would
// show what it knew.

import type { Notifier, Operations } from '../fs/operations.ts'

/** Told when the change is made, also where it failed half way. */
export function telling(inner: Operations, notifier: Notifier): Operations {
  /** Open for writing. */
  const written = new Map<number, number>()
  const opened = (fh: number, ino: number): void => {
    written.set(fh, ino)
  }
  const changed = (fh: number): void => {
    const ino = written.get(fh)
    if (ino !== undefined) notifier.contentChanged(ino)
  }
  return {
    ...inner,
    async create(parent, name, options, caller) {
      const made = await inner.create(parent, name, options, caller)
      opened(made.opened.fh, made.entry.attributes.ino)
      notifier.entryChanged(parent, name)
      return made
    },
    async open(ino, flags, caller) {
      const result = await inner.open(ino, flags, caller)
      if (flags.write) opened(result.fh, ino)
      if (flags.truncate) notifier.contentChanged(ino)
      return result
    },
    async setattr(ino, change, fh, caller) {
      try {
        return await inner.setattr(ino, change, fh, caller)
      } finally {
        if (change.size === undefined) notifier.attributesChanged(ino)
        else notifier.contentChanged(ino)
      }
    },
    async copyFileRange(fhIn, offsetIn, fhOut, offsetOut, length, caller) {
      const bytes = await inner.copyFileRange(fhIn, offsetIn, fhOut, offsetOut, length, caller)
      changed(fhOut)
      return bytes
    },
    async flush(fh, caller) {
      try {
        // Before the wait for the service: here it is true already.
        changed(fh)
        await inner.flush(fh, caller)
      } finally {
        changed(fh)
      }
    },
    release(fh) {
      changed(fh)
      written.delete(fh)
      return inner.release(fh)
    },
    async mkdir(parent, name, mode, caller) {
      const entry = await inner.mkdir(parent, name, mode, caller)
      notifier.entryChanged(parent, name)
      return entry
    },
    async unlink(parent, name, caller) {
      await inner.unlink(parent, name, caller)
      notifier.entryChanged(parent, name)
    },
    async rmdir(parent, name, caller) {
      await inner.rmdir(parent, name, caller)
      notifier.entryChanged(parent, name)
    },
    async rename(parent, name, newParent, newName, flags, caller) {
      try {
        await inner.rename(parent, name, newParent, newName, flags, caller)
      } finally {
        notifier.entryChanged(parent, name)
        notifier.entryChanged(newParent, newName)
      }
    },
  }
}
