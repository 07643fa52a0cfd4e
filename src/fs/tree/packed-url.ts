// URLs packed as the pieces that each has of its own: the presigned URLs of a folder differ in an id and a signature, and share
// host, expiry and, with some services, a credential of a thousand characters. The shared pieces are learned from two URLs.
//
//   https://host/api/download/ 6f1e… ?expires=1767225600000&signature= x9Qd…
//   └──────── shared ────────┘ own   └──────────── shared ───────────┘ own    shared, own, shared, … to the last shared

const delimiters = /([/?&=])/
/** Most patterns learned: expiries may change from page to page, and the URLs of a service may share nothing at all. */
const mostPatterns = 16

/** Shared pieces: before, between and behind the pieces that each URL has of its own. */
type Pattern = readonly string[]

export interface PackedUrl {
  readonly pattern: number
  readonly own: readonly string[]
}

export class UrlPatterns {
  readonly #patterns: Pattern[] = []
  #previous: string | undefined

  /** Returns the packed URL; undefined if it has nothing in common with the previous one. */
  pack(url: string): PackedUrl | undefined {
    const previous = this.#previous
    this.#previous = url
    const known = this.#packByLastPattern(url)
    if (known !== undefined || previous === undefined || this.#patterns.length === mostPatterns) return known
    const learned = sharedBy(previous, url)
    if (learned === undefined) return undefined
    this.#patterns.push(learned)
    return this.#packByLastPattern(url)
  }

  /** Returns the number of own pieces in a URL of this pattern. */
  ownCount(pattern: number): number {
    return (this.#patterns[pattern]?.length ?? 1) - 1
  }

  unpack({ pattern, own }: PackedUrl): string {
    const shared = this.#patterns[pattern] ?? []
    let url = shared[0] ?? ''
    for (let at = 0; at < own.length; at++) url += `${own[at]}${shared[at + 1]}`
    return url
  }

  #packByLastPattern(url: string): PackedUrl | undefined {
    const pattern = this.#patterns.length - 1
    const shared = this.#patterns[pattern]
    const own = shared === undefined ? undefined : ownParts(shared, url)
    return own === undefined ? undefined : { pattern, own }
  }
}

/** Returns the own pieces of a URL; undefined if it does not match the pattern. */
function ownParts(shared: Pattern, url: string): string[] | undefined {
  const [first = ''] = shared
  if (!url.startsWith(first)) return undefined
  const own: string[] = []
  let from = first.length
  for (let at = 1; at < shared.length; at++) {
    const next = shared[at] as string
    const isLast = at === shared.length - 1
    if (isLast && !url.endsWith(next)) return undefined
    const to = isLast ? url.length - next.length : url.indexOf(next, from)
    if (to < from) return undefined
    own.push(url.slice(from, to))
    from = to + next.length
  }
  return from === url.length ? own : undefined
}

/** Returns the pieces that two URLs share; undefined if they do not have the same number of parts. */
function sharedBy(one: string, other: string): Pattern | undefined {
  const parts = one.split(delimiters)
  const others = other.split(delimiters)
  if (parts.length !== others.length) return undefined
  const shared: string[] = []
  let piece = ''
  for (const [at, part] of parts.entries()) {
    if (part === others[at]) piece += part
    else {
      shared.push(piece)
      piece = ''
    }
  }
  shared.push(piece)
  return shared
}
