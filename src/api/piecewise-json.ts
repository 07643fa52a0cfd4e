// Parses one JSON document piece by piece, so that a listing of 100,000 entries never holds the event loop for long: the
// elements of an array that is a value of the outermost object are parsed as they come. Everything else is `JSON.parse`,
// which also finds every mistake; this file only looks for quotes, brackets and commas. A short document is parsed at once.
//
//   {"name": "many", "entries": [ {…}, {…}, {…} ], "more": 1}
//   └──── skeleton ───────────┘0└── list 0 ──┘└── skeleton ──┘      the skeleton has `[0]` in place of list 0

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Documents up to this length are parsed at once, which takes some milliseconds. */
const shortBytes = 1024 * 1024

const decoder = new TextDecoder()

/** Call `push` for every chunk, then `end` for the value. Both throw SyntaxError for invalid JSON. */
export class PiecewiseJson {
  readonly #skeleton: Uint8Array[] = []
  readonly #lists: unknown[][] = []
  /** The list being read, and its bytes after the last parsed element. */
  #list: unknown[] | undefined
  #rest: Uint8Array[] = []
  #depth = 0
  #isInString = false
  /** Number of backslashes at the end of the last chunk, if that ended in a string. */
  #backslashes = 0
  #elements = 0
  /** All chunks so far, while the document is short; then undefined. */
  #short: Uint8Array[] | undefined = []
  /** Bytes until the document is no longer short; negative then. */
  #shortBytesLeft: number

  constructor(maxShortBytes: number = shortBytes) {
    this.#shortBytesLeft = maxShortBytes
  }

  /** Number of list elements parsed so far; 0 while the document is short. */
  get elements(): number {
    return this.#elements
  }

  push(chunk: Uint8Array): void {
    this.#shortBytesLeft -= chunk.length
    const short = this.#short
    if (this.#shortBytesLeft >= 0) short?.push(chunk)
    else {
      this.#short = undefined
      for (const piece of short ?? []) this.#take(piece)
      this.#take(chunk)
    }
  }

  #take(chunk: Uint8Array): void {
    // The chunk's bytes before `start` are in the skeleton or in a list already.
    let start = 0
    let lastComma = -1
    for (let at = 0; at < chunk.length;) {
      if (this.#isInString) {
        at = this.#skipString(chunk, at)
        continue
      }
      const byte = chunk[at++]
      if (byte === quote) {
        this.#isInString = true
        this.#backslashes = 0
      } else if (byte === openBracket || byte === openBrace) {
        this.#depth++
        if (this.#depth === 2 && byte === openBracket) {
          this.#skeleton.push(chunk.subarray(start, at), Buffer.from(String(this.#lists.length)))
          this.#list = []
          this.#lists.push(this.#list)
          start = at
        }
      } else if (byte === closeBracket || byte === closeBrace) {
        this.#depth--
        if (this.#depth === 1 && this.#list !== undefined) {
          this.#endList(this.#list, chunk.subarray(start, at - 1))
          start = at - 1
          lastComma = -1
        }
      } else if (byte === comma && this.#depth === 2 && this.#list !== undefined) {
        lastComma = at - 1
      }
    }
    if (this.#list !== undefined && lastComma !== -1) {
      this.#list.push(...this.#parseElements(chunk.subarray(start, lastComma)))
      start = lastComma + 1
    }
    const kept = this.#list === undefined ? this.#skeleton : this.#rest
    kept.push(chunk.subarray(start))
  }

  /** Returns the value; undefined for an empty document. */
  end(): unknown {
    if (this.#short !== undefined) {
      const text = textOf(this.#short)
      return text === '' ? undefined : JSON.parse(text)
    }
    const text = textOf([...this.#skeleton, ...this.#rest])
    if (text === '') return undefined
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, field]): [string, unknown] => [
      key,
      Array.isArray(field) ? this.#lists[Number(field[0])] : field,
    ])
    return Array.isArray(value) ? entries.map(([, field]) => field) : Object.fromEntries(entries)
  }

  /** Returns the index after the string's end, or the chunk's length if the string goes on. */
  #skipString(chunk: Uint8Array, from: number): number {
    const found = chunk.indexOf(quote, from)
    const end = found === -1 ? chunk.length : found
    let first = end
    while (first > from && chunk[first - 1] === backslash) first--
    const backslashes = end - first + (first === from ? this.#backslashes : 0)
    this.#backslashes = found === -1 ? backslashes : 0
    if (found === -1) return end
    if (backslashes % 2 === 0) this.#isInString = false
    return found + 1
  }

  #endList(list: unknown[], last: Uint8Array): void {
    const isEmpty = list.length === 0 && isBlank([...this.#rest, last])
    if (!isEmpty) list.push(...this.#parseElements(last))
    this.#rest = []
    this.#list = undefined
  }

  /** Parses `#rest` and `bytes`: the elements between two commas or brackets, at least one. */
  #parseElements(bytes: Uint8Array): unknown[] {
    const elements = JSON.parse(`[${Buffer.concat([...this.#rest, bytes]).toString()}]`) as unknown[]
    if (elements.length === 0) throw new SyntaxError('an element is missing')
    this.#rest = []
    this.#elements += elements.length
    return elements
  }
}

/** Decodes UTF-8, without a byte order mark, which some services send (RFC 8259, 8.1). */
export function textOf(json: readonly Uint8Array[]): string {
  return decoder.decode(Buffer.concat(json))
}

function isBlank(pieces: readonly Uint8Array[]): boolean {
  return Buffer.concat(pieces).toString().trim() === ''
}
