// Names and words of others, before a terminal sees them: it would obey control characters. All of Unicode's are meant, also
// those from U+0080 on, which JSON leaves as they are.

/** On one line: control characters become `?`, as `ls` shows them. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?')
}

/** Of text that has lines and columns of its own. */
export function printableLines(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '?')
}

/** JSON that says the same, and holds no control characters but those between its values. */
export function printableJson(json: string): string {
  return json.replaceAll(/[\u007f-\u009f]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`)
}
