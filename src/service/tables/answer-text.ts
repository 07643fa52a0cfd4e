// The JSON of what a run answers, if that is of a size that can be sent: one long value of one row may be the answer to
// thousands of items.

/** UTF-16 units, of text and names; what is sent has up to six bytes for each. */
const maxChars = 16 * 1024 * 1024
/** Units that a value costs besides its text. */
const valueChars = 4

/** Throws RangeError, having made nothing, for an answer that is too large. */
export function answerText(data: Readonly<Record<string, unknown>>): string {
  let left = maxChars
  const count = (value: unknown): void => {
    left -= typeof value === 'string' ? value.length + valueChars : valueChars
    if (left < 0) throw new RangeError('the answer would have more than 16 MiB: send several smaller ones')
    if (Array.isArray(value)) for (const element of value) count(element)
    else if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) {
        left -= name.length + valueChars
        count(member)
      }
  }
  count(data)
  return JSON.stringify(data)
}
