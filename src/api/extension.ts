// The extension of a name, as both those see it who know types and those who know what the service takes no type for.

/** What people and programs call a document as it was before (`sed -i.bak`, `perl -pi.bak`, `patch -b`): a document itself. */
const formerEnding = /(?<=.)(?:\.(?:bak|orig))+$/i

/** `report.pdf` for `report.pdf.bak` and `report.pdf.orig`; undefined for any other name. */
export function formerName(name: string): string | undefined {
  return formerEnding.test(name) ? name.replace(formerEnding, '') : undefined
}

/**
 * The extension in lower case, without its dot; empty for none. What follows the last dot of `Invoice No. 12`, `log.1`
 * or `.profile` is not one.
 */
export function extensionOf(name: string): string {
  const extension = /[^/]\.([^./]+)$/.exec(name)?.[1] ?? ''
  return /\s|^\d+$/.test(extension) ? '' : extension.toLowerCase()
}
