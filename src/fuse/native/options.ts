// libfuse's option list for one mount. native-deps.md explains each option.

import type { MountOptions } from '../driver.ts'

/** How long the kernel may cache names, attributes and missing names; short, since this driver cannot invalidate them. */
export const kernelTtlMs = 1000

/** Returns the list as libfuse takes it, joined by commas. */
export function libfuseOptions(options: MountOptions): string {
  const ttl = kernelTtlMs / 1000
  const list = [
    `fsname=${cleanSource(options.source)}`,
    'subtype=docmount',
    'default_permissions',
    // Writes of 128 KiB instead of 4 KiB.
    'big_writes',
    // O_TRUNC comes with open, not as a truncate by path after it.
    'atomic_o_trunc',
    // Cached pages survive a reopen while size and mtime are the same.
    'auto_cache',
    // Our inode numbers instead of libfuse's, which change when it forgets a node.
    'use_ino',
    `entry_timeout=${ttl}`,
    `attr_timeout=${ttl}`,
    `negative_timeout=${ttl}`,
  ]
  // Without hard_remove, by which reading and closing a file that was deleted while open would fail with ENOENT.
  if (options.readOnly) list.push('ro')
  if (options.allowOther) list.push('allow_other')
  return list.join(',')
}

/** Removes commas, which would end the option and leave a dead mount; and shortens: all options share a buffer of 1 KiB. */
function cleanSource(source: string): string {
  // oxlint-disable-next-line no-control-regex
  const clean = source.replaceAll(/[,\\\u0000-\u001f\u007f]/g, '')
  return clean.slice(0, 100) || 'docmount'
}
