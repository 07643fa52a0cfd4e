// Operations that notify the kernel door of changes through WebDAV: the kernel caches names, attributes and pages.

import type { Caller, Notifier, Operations } from '../fs/operations.ts'

/** Returns `inner` with a notification after each change, also after one that failed half way. */
export function invalidating(inner: Operations, notifier: Notifier): Operations {
  /** Nodes of handles that are open for writing, by handle. */
  const written = new Map<number, number>()
  const opened = (fh: number, ino: number): void => {
    written.set(fh, ino)
  }
  const changed = (fh: number): void => {
    const ino = written.get(fh)
    if (ino !== undefined) notifier.contentChanged(ino)
  }
  /** Resolves with the node of a name, and takes a reference on it; undefined if there is none. */
  async function find(parent: number, name: string, caller: Caller): Promise<number | undefined> {
    try {
      return (await inner.lookup(parent, name, caller)).attributes?.ino
    } catch {
      // The change itself reports the error.
      return undefined
    }
  }

  /** Makes a change that removes a name. The node's attributes are invalidated, too: a program may have it open. */
  async function removingName(
    parent: number,
    name: string,
    caller: Caller,
    change: () => Promise<void> | void,
  ): Promise<void> {
    const ino = await find(parent, name, caller)
    const entryChanged = notifier.entryChanging(parent, name)
    try {
      await change()
    } finally {
      entryChanged()
      if (ino !== undefined) {
        notifier.attributesChanged(ino)
        inner.forget(ino, 1)
      }
    }
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
        // Before the wait for the service, since the drive has the content already.
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
    unlink: (parent, name, caller) =>
      removingName(parent, name, caller, () => inner.unlink(parent, name, caller)),
    rmdir: (parent, name, caller) =>
      removingName(parent, name, caller, () => inner.rmdir(parent, name, caller)),
    rename: (parent, name, newParent, newName, flags, caller) =>
      removingName(parent, name, caller, () =>
        removingName(newParent, newName, caller, () =>
          inner.rename(parent, name, newParent, newName, flags, caller),
        ),
      ),
  }
}
