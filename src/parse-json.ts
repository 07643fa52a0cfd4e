// Parsing of JSON that may be damaged, or that a person wrote.

/** Returns the parsed value; undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
