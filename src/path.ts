// Paths in a project: absolute, `/` between names.

/** A name has at most so many bytes of UTF-8 (Linux: NAME_MAX). */
export const nameMaxBytes = 255

/** The last name; empty for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The folder it is in; the root is in itself. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

/** Every folder that it is in, the nearest first, without the root. */
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

/** The path of a name in a folder. */
export function pathBelow(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

/** At most so many bytes of UTF-8, without half a character at the end. */
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
