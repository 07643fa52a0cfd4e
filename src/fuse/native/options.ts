// libfuse's option list for one mount. Purpose of each option: native-deps.md.

import type { MountOptions } from '../driver.ts'

/** How long the kernel may keep names, attributes and absences: nothing can be pushed to it, so at most this. */
export const kernelTtlMs = 1000

/** The list as libfuse takes it, joined by commas. Everything not ours in it is cleaned of what would end an option. */
export function libfuseOptions(options: MountOptions): string {
  const ttl = kernelTtlMs / 1000
  const list = [
    `fsname=${cleanSource(options.source)}`,
    'subtype=docmount',
    'default_permissions',
    // Writes of 128 KiB instead of 4 KiB.
    'big_writes',
    // O_TRUNC arrives with open, not as a truncation by path behind it.
    'atomic_o_trunc',
    // Pages are kept on reopen while size and mtime are the same.
    'auto_cache',
    // Our inode numbers instead of libfuse's, which change when it forgets.
    'use_ino',
    `entry_timeout=${ttl}`,
    `attr_timeout=${ttl}`,
    `negative_timeout=${ttl}`,
  ]
  // Not hard_remove: with it libfuse answers ENOENT to reading and closing a file that was deleted while open.
  if (options.readOnly) list.push('ro')
  if (options.allowOther) list.push('allow_other')
  return list.join(',')
}

/** A comma ends the option and leaves a dead mount behind; the binding's buffer for all options is 1 KiB. */
function cleanSource(source: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = source.replaceAll(/[,\\\u0000-\u001f\u007f]/g, '')
  return clean.slice(0, 100) || 'docmount'
}
