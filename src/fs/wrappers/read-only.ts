// A read-only drive is a wrapper that throws, not an `if` in every operation.

import { ErrnoError } from '../../errno-error.ts'
import type { FileSystem } from '../contract.ts'

/** Returns the filesystem with EROFS from every operation that would change a document. */
export function readOnly(inner: FileSystem): FileSystem {
  const refuse = (): never => {
    throw new ErrnoError('EROFS', 'mounted read-only')
  }
  return {
    ...inner,
    setattr: refuse,
    create: refuse,
    write: refuse,
    fallocate: refuse,
    copyFileRange: refuse,
    mkdir: refuse,
    unlink: refuse,
    rmdir: refuse,
    rename: refuse,
    open: (ino, flags, caller) => (flags.write || flags.truncate ? refuse() : inner.open(ino, flags, caller)),
  }
}
