// Numbers of JSON that JavaScript would keep as others: 9007199254740993 becomes …992, 1e400 nothing at all. Two account
// numbers would be one; who sends such a number is told to send it as text.

const doubtful = /\d{16}|[eE]\+?\d{3}/
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
/** No double has so many digits before its point. */
const maxDigits = 400

/** The first number of a JSON text that is not kept: a whole number that would change, or one that is too large. */
export function findInexactNumber(json: string): string | undefined {
  if (!doubtful.test(json)) return undefined
  for (const [token] of json.matchAll(stringOrNumber)) {
    if (token.startsWith('"') || !doubtful.test(token)) continue
    if (token.length > maxDigits || !isKept(token)) return token.slice(0, 40)
  }
  return undefined
}

function isKept(token: string): boolean {
  const value = Number(token)
  if (!/^-?\d+$/.test(token)) return Number.isNaN(value) || Number.isFinite(value)
  return Number.isFinite(value) && BigInt(token) === BigInt(value)
}
