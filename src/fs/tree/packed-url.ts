// A URL as what it has of its own: the presigned URLs of a folder differ in an id and a signature, and share host, expiry
// and, with some services, a credential of a thousand characters. The shared pieces are learned from two of them.
//
//   https://host/api/download/ 6f1e… ?expires=1767225600000&signature= x9Qd…
//   └──────── shared ────────┘ own   └──────────── shared ───────────┘ own    shared, own, shared, … to the last shared

const delimiters = /([/?&=])/
/** Expiries change from page to page, say; a service whose URLs have nothing in common is not learned from for ever. */
const mostPatterns = 16

/** The pieces before, between and behind what each URL has of its own. */
type Pattern = readonly string[]

export interface PackedUrl {
  readonly pattern: number
  readonly own: readonly string[]
}

export class UrlPatterns {
  readonly #patterns: Pattern[] = []
  #previous: string | undefined

  /** Undefined where it has nothing in common with the one before. */
  pack(url: string): PackedUrl | undefined {
    const previous = this.#previous
    this.#previous = url
    const known = this.#packedByLast(url)
    if (known !== undefined || previous === undefined || this.#patterns.length === mostPatterns) return known
    const learned = sharedBy(previous, url)
    if (learned === undefined) return undefined
    this.#patterns.push(learned)
    return this.#packedByLast(url)
  }

  /** How many parts a URL of this pattern has of its own. */
  ownCount(pattern: number): number {
    return (this.#patterns[pattern]?.length ?? 1) - 1
  }

  unpack({ pattern, own }: PackedUrl): string {
    const shared = this.#patterns[pattern] ?? []
    let url = shared[0] ?? ''
    for (let at = 0; at < own.length; at++) url += `${own[at]}${shared[at + 1]}`
    return url
  }

  #packedByLast(url: string): PackedUrl | undefined {
    const pattern = this.#patterns.length - 1
    const shared = this.#patterns[pattern]
    const own = shared === undefined ? undefined : ownParts(shared, url)
    return own === undefined ? undefined : { pattern, own }
  }
}

/** Undefined where the URL is made otherwise. */
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

/** Undefined where the one has more parts than the other. */
function sharedBy(one: string, other: string): Pattern | undefined {
  const parts = one.split(delimiters)
  const others = other.split(delimiters)
  if (parts.length !== others.length) return undefined
  const shared: string[] = []
  let together = ''
  for (const [at, part] of parts.entries()) {
    if (part === others[at]) together += part
    else {
      shared.push(together)
      together = ''
    }
  }
  shared.push(together)
  return shared
}
