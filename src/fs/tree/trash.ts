// The file managers' trash in the drive's root, as the trash specification of freedesktop.org has it: all that is in it is on this
// machine only, whatever its name, and the service is neither asked for it nor told of it.

const trashFolder = /^\/\.Trash-\d+(?:\/|$)/

/** True for the trash of a user, and for what is in it. */
export function isInTrash(path: string): boolean {
  return trashFolder.test(path)
}
