// Ownership check of a folder. Another user who can write to it could replace a file by a link, so that docmount overwrites
// the link's target.

import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = 0
const writableByOthers = 0o022
const sticky = 0o1000

/**
 * Returns why a folder that only docmount writes to is unsafe, as a sentence that says what to do; undefined if it is safe, or
 * cannot be read (its user reports that better). Its entries are checked, too: they may date from a time when others could write.
 */
export function whyNotOurs(folder: string): string | undefined {
  try {
    return foreignIn(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall !== undefined) return undefined
    throw error
  }
}

function foreignIn(folder: string): string | undefined {
  const us = process.geteuid?.()
  // `folder` may be a link: both the link and its target have to be ours.
  const [entry, stats] = [lstatSync, statSync].map((stat) => stat(folder, { throwIfNoEntry: false }))
  if (us === undefined || entry === undefined || stats === undefined) return undefined
  if (entry.uid !== us || stats.uid !== us) return `${folder} belongs to another user`
  if ((stats.mode & writableByOthers) !== 0)
    return `other users can write to ${folder} (run: chmod go-w ${folder})`
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink() === true) return `${path} is a link, which docmount never makes: remove it`
    if (found !== undefined && found.uid !== us && found.uid !== root)
      return `${path} belongs to another user: remove it`
  }
  return undefined
}

/** Returns why a shared folder such as `/tmp` is unsafe; undefined if other users cannot replace our entries in it. */
export function whyNotSafe(folder: string): string | undefined {
  const us = process.geteuid?.()
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (us === undefined || stats === undefined) return undefined
  if (stats.uid !== us && stats.uid !== root) return `${folder} belongs to another user`
  if ((stats.mode & writableByOthers) === 0 || (stats.mode & sticky) !== 0) return undefined
  return `other users can write to ${folder} (run: chmod go-w ${folder})`
}
