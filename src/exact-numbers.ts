// Numbers in JSON that JavaScript cannot represent: 9007199254740993 is parsed as …992, 1e400 as Infinity. Two account
// numbers would become one, so the service refuses such a number and asks for text instead.

const maybeInexact = /\d{16}|[eE]\+?\d{3}/
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
/** Longer tokens are refused unparsed: the largest double has 309 digits, and BigInt is slow for long texts. */
const maxDigits = 400

/** Returns the first number that `JSON.parse` would change (a whole number beyond 2^53, an overflow), cut to 40 characters. */
export function findInexactNumber(json: string): string | undefined {
  if (!maybeInexact.test(json)) return undefined
  for (const [token] of json.matchAll(stringOrNumber)) {
    if (token.startsWith('"') || !maybeInexact.test(token)) continue
    if (token.length > maxDigits || !isExact(token)) return token.slice(0, 40)
  }
  return undefined
}

function isExact(token: string): boolean {
  const value = Number(token)
  if (!/^-?\d+$/.test(token)) return Number.isNaN(value) || Number.isFinite(value)
  return Number.isFinite(value) && BigInt(token) === BigInt(value)
}
