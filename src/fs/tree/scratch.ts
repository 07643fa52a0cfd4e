// Which files stay on this machine: droppings of editors, desktops and copying programs, as recorded from real ones. A name
// alone proves little, so a name that people may give too needs the behaviour as well. Folders never stay here.

import { mimetypeOfName } from '../../api/mimetype-of.ts'

/** How a file was made, as far as the door tells. */
export interface Making {
  /** O_EXCL. */
  readonly exclusive: boolean
  /** Permission bits. */
  readonly mode: number
  /** Open for both. */
  readonly readWrite: boolean
  /** True for a name that is in the same folder. */
  readonly isBeside: (name: string) => boolean
}

/** What programs keep beside a document while they work on it, and desktops in every folder: no document, ever. */
const ownPatterns: readonly RegExp[] = [
  /^#.+#$/, // emacs autosave
  /^\.#./, // emacs lock
  /^\..+\.sw[a-z]$/, // vim swap
  /^\..+\.un~$/, // vim undo history
  /^\.~lock\..+#$/, // LibreOffice lock
  /^~\$./, // MS Office owner file
  /.\.kate-swp$/,
  /^\._./, // macOS resource forks
  /^\.DS_Store$/,
  /^\.apdisk$/,
  /^\.metadata_never_index$/, // macOS, on drives that are not to be searched
  /^Icon\r$/,
  /^Thumbs\.db$/i,
  /^desktop\.ini$/i,
  /^\.directory$/,
  /^\.hidden$/,
  /^\.xdg-volume-info$/,
]

/** Half a document, under a name that only its program gives. */
const unfinishedPatterns: readonly RegExp[] = [
  /^\.goutputstream-[A-Za-z0-9]+$/, // GIO
  /^\.com\.google\.Chrome\.[A-Za-z0-9]+$/,
]

/** Half a document, or one that somebody named so: time tells. */
const temporaryEnding = /(?<=.)(?:~|\.(?:tmp|part|partial|filepart|crdownload|download|osl-tmp))+$/i
/** What is before these is the whole name the document will have. */
const completeEnding = /(?<=.)\.(?:part|filepart|crdownload)$/i
/** sed -i, perl -i. */
const sedName = /^(?:sed|XX)[A-Za-z0-9]{6}$/
/** patch: `report.txt.oXa3b9Z`, and `.rXa3b9Z` for what it rejects. */
const patchEnding = /(?<=.)\.[or][A-Za-z0-9]{6}$/
/** rsync and others: `.report.pdf.Xa3b9Z`. */
const randomEnding = /^\.(.+)\.[A-Za-z0-9]{6}$/
/** SQLite, beside its database. */
const databaseEnding = /(?<=.\.[^.]+)-(?:journal|wal|shm)$/
/** libfuse 2 keeps a deleted file that is open under this name until its last close. */
const hiddenName = /^\.fuse_hidden[0-9a-f]{16,}$/

/** True for a new file that begins its life on this machine only. */
export function isMadeLocal(name: string, making: Making): boolean {
  if (isOwnName(name, making.isBeside) || matches(unfinishedPatterns, name)) return true
  // mkstemp(3): nobody else opens a new file so.
  const isTemporaryFile = making.exclusive && making.readWrite && (making.mode & 0o777) === 0o600
  if (sedName.test(name)) return isTemporaryFile
  if (isRandomName(name)) return isTemporaryFile || (making.exclusive && isSurelyRandom(name))
  if (patchEnding.test(name)) return making.exclusive && isPatched(name, making.isBeside)
  // An editor's backup is one only beside its document.
  return name.endsWith('~') ? making.isBeside(name.slice(0, -1)) : temporaryEnding.test(name)
}

/** True for a name that a file which is on this machine only may go on to without becoming a document at once. */
export function isLocalName(name: string): boolean {
  return isOwnName(name, () => true) || matches(unfinishedPatterns, name) || temporaryEnding.test(name)
}

/** True for the name of a backup, or of the old version on its way out: a document renamed to it is given a moment. */
export function isBackupName(name: string): boolean {
  return temporaryEnding.test(name)
}

/** True for a document that libfuse hides until its last close: it is deleted. */
export function isHiddenName(name: string): boolean {
  return hiddenName.test(name)
}

/** Why a file that has been quiet for a while is no document even so; undefined where it is one. */
export function whyLocal(name: string, isBeside: (name: string) => boolean): string | undefined {
  if (isOwnName(name, isBeside)) return 'belongs to the program that made it'
  if (isUnfinishedName(name)) return 'its program has not finished it'
  const original = name.slice(0, -1)
  return name.endsWith('~') && isBeside(original) ? `a backup of ${original}` : undefined
}

/** True for a file that becomes no document by being left alone, whatever is beside it and whatever goes from there. */
export function isNeverSent(name: string): boolean {
  return isOwnName(name, () => true) || isUnfinishedName(name)
}

/** The name whose extension tells the type: `report.pdf` for `report.pdf.part` and `report.pdf~`. */
export function typedName(name: string): string {
  return name.replace(temporaryEnding, '')
}

/** `report.txt` for `report.txt.oXa3b9Z`, where that has a type: somebody may have called a document so. */
export function patchedName(name: string): string | undefined {
  const document = name.replace(patchEnding, '')
  return document !== name && mimetypeOfName(document) !== undefined ? document : undefined
}

/** The name that the document is sure to get when it is whole; undefined where that is not known. */
export function finalName(name: string): string | undefined {
  if (completeEnding.test(name)) return name.replace(completeEnding, '')
  return isRandomName(name) ? name.replace(randomEnding, '$1') : undefined
}

/** True for a trash folder: refused, so that file managers offer a permanent delete instead of moving documents by upload. */
export function isTrashName(name: string): boolean {
  return name === '.Trash' || name.startsWith('.Trash-') || name === '.Trashes'
}

function isOwnName(name: string, isBeside: (name: string) => boolean): boolean {
  if (matches(ownPatterns, name)) return true
  return databaseEnding.test(name) && isBeside(name.replace(databaseEnding, ''))
}

function isUnfinishedName(name: string): boolean {
  return matches(unfinishedPatterns, name) || isRandomName(name) || isSurelyPatched(name)
}

/** But not `.notes.config`, which has a type. */
function isRandomName(name: string): boolean {
  return randomEnding.test(name) && mimetypeOfName(name) === undefined
}

/** `.backup` is a word, `.Xa3b9Z` is none. */
function isSurelyRandom(name: string): boolean {
  return (
    /[A-Z0-9][^.]*$/.test(name.slice(-6)) && mimetypeOfName(name.replace(randomEnding, '$1')) !== undefined
  )
}

/** Chance may give patch the letters of a word: those are its own behind a whole name alone, which `plan` is not. */
function isPatched(name: string, isBeside: (name: string) => boolean): boolean {
  return patchedName(name) !== undefined || (isSurelyPatched(name) && isBeside(name.replace(patchEnding, '')))
}

/** `report.txt.revised` and `plan.rev2024` are what people write. */
function isSurelyPatched(name: string): boolean {
  return patchEnding.test(name) && /[A-Z]|\d[a-z]/.test(name.slice(-6)) && mimetypeOfName(name) === undefined
}

function matches(patterns: readonly RegExp[], name: string): boolean {
  return patterns.some((pattern) => pattern.test(name))
}
