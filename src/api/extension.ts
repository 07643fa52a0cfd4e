// The extension of a name: the one definition for `mimetype-of.ts` and `unsupported-kind.ts`, so that they never disagree.

/**
 * Endings of backup copies (`sed -i.bak`, `perl -pi.bak`, `patch -b`). A backup copy is a document of the same type as its
 * original, so its type is looked up without them.
 */
const backupEnding = /(?<=.)(?:\.(?:bak|orig))+$/i

/** Returns `report.pdf` for `report.pdf.bak` and `report.pdf.orig`; undefined for a name without such an ending. */
export function nameWithoutBackupEnding(name: string): string | undefined {
  return backupEnding.test(name) ? name.replace(backupEnding, '') : undefined
}

/**
 * Returns the extension in lower case, without its dot; empty if there is none, as in `Invoice No. 12`, `log.1`
 * and `.profile`.
 */
export function extensionOf(name: string): string {
  const extension = /[^/]\.([^./]+)$/.exec(name)?.[1] ?? ''
  return /\s|^\d+$/.test(extension) ? '' : extension.toLowerCase()
}
