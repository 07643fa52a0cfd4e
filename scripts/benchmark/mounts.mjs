// The mount table and the kernel's caches. A mount is touched only to unmount it.

import { readFile, writeFile } from 'node:fs/promises'
import { run, runWell } from './processes.mjs'

export async function isMounted(path) {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  return table.split('\n').some((line) => line.split(' ')[4] === path)
}

/** Unmounts as a user would; lazily where that does not work in time. */
export async function unmount(path, { limitSeconds = 30 } = {}) {
  if (await isMounted(path)) await run('umount', [path], { limitSeconds })
  if (await isMounted(path)) await runWell('umount', ['-l', path])
}

/** Every program's pages, and all names and attributes the kernel remembers, are gone afterwards. */
export async function dropCaches() {
  await run('sync', [], { limitSeconds: 120 })
  await writeFile('/proc/sys/vm/drop_caches', '3')
}
