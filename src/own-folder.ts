// Ownership check of a folder. Another user who can write to it could put a link in the place of a file, and so have
// another file emptied.

import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = 0
const writableByOthers = 0o022
const sticky = 0o1000

/**
 * Why a folder in which all is made by us, and by nobody else, cannot be used: a sentence that says what to do. Undefined where it
 * can, and where it cannot be looked at, which its users say better. Looks at what is in it, too: it may have been put there while
 * others could.
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
  // A link to it is as good as the folder where it is our own.
  const [entry, stats] = [lstatSync, statSync].map((look) => look(folder, { throwIfNoEntry: false }))
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

/** The same of a folder in which others may have folders, too, but cannot touch ours. */
export function whyNotSafe(folder: string): string | undefined {
  const us = process.geteuid?.()
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (us === undefined || stats === undefined) return undefined
  if (stats.uid !== us && stats.uid !== root) return `${folder} belongs to another user`
  if ((stats.mode & writableByOthers) === 0 || (stats.mode & sticky) !== 0) return undefined
  return `other users can write to ${folder} (run: chmod go-w ${folder})`
}
