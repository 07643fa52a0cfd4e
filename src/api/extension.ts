// The extension of a name, as both those see it who know types and those who know what the service takes no type for.

/**
 * Endings that people and programs give to a document as it was before (`sed -i.bak`, `perl -pi.bak`, `patch -b`):
 * such a file is a document itself.
 */
const formerEnding = /(?<=.)(?:\.(?:bak|orig))+$/i

/** `report.pdf` for `report.pdf.bak` and `report.pdf.orig`; undefined for any other name. */
export function formerName(name: string): string | undefined {
  return formerEnding.test(name) ? name.replace(formerEnding, '') : undefined
}

/**
 * The extension in lower case, without its dot; empty for none. The characters after the last dot of
 * `Invoice No. 12`, `log.1` or `.profile` are none.
 */
export function extensionOf(name: string): string {
  const extension = /[^/]\.([^./]+)$/.exec(name)?.[1] ?? ''
  return /\s|^\d+$/.test(extension) ? '' : extension.toLowerCase()
}
