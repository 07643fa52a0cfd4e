// The trash folder of file managers in the drive's root (trash specification of freedesktop.org). All files in it are on this
// machine only, whatever their names: the service is never asked about the folder, and gets none of it.

const trashFolder = /^\/\.Trash-\d+(?:\/|$)/

/** True for a user's trash folder, and for every path in it. */
export function isInTrash(path: string): boolean {
  return trashFolder.test(path)
}
