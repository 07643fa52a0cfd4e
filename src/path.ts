// Paths in a project: absolute, with `/` between names and none at the end.

/** The longest name of a file, in bytes of UTF-8 (NAME_MAX on Linux). */
export const nameMaxBytes = 255

/** Returns the last name of a path; empty for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns the parent folder; that of the root is the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

/** Returns every folder above a path, nearest first, without the root. */
export function foldersAbove(path: string): string[] {
  const above: string[] = []
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    above.push(path.slice(0, slash))
  return above
}

/** True where `path` is `folder` or lies under it. */
export function isAtOrUnder(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

/** Returns the path of `name` in `folder`. */
export function pathBelow(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

/** Returns the name in `folder` that `path` is or lies under; empty for the folder itself. */
export function nameBelow(folder: string, path: string): string {
  return path.slice(pathBelow(folder, '').length).split('/', 1)[0] ?? ''
}

/** Returns as many whole characters of `name` as fit into `bytes` bytes of UTF-8. */
export function cutTo(name: string, bytes: number): string {
  if (Buffer.byteLength(name) <= bytes) return name
  let kept = ''
  let length = 0
  for (const character of name) {
    length += Buffer.byteLength(character)
    if (length > bytes) break
    kept += character
  }
  return kept
}
