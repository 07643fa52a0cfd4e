// The JSON of a run's result, unless it is too large to send: one long value of one asset may be the match of thousands of
// items.

/** UTF-16 units of texts and names; each takes up to six bytes in the response. */
const maxChars = 16 * 1024 * 1024
/** Units that each value counts besides its text. */
const valueChars = 4

/** Returns the JSON. Throws RangeError for a result that is too large, before any text is made. */
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
