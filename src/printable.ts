// Text from outside (names, messages) made safe for a terminal, which would obey its control characters: also those from U+0080
// to U+009F, which JSON does not escape.

/** Returns text for one line: each control character becomes `?`, as in `ls`. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?')
}

/** Returns text as `printable` does, but keeps its line breaks and tabs. */
export function printableLines(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '?')
}

/** Returns equal JSON with U+007F to U+009F escaped. */
export function printableJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`)
}
