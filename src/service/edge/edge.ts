// What stands between the wire and the routes: whom to believe, what links begin with.

import type { ServiceOptions } from '../contract.ts'
import { type IsInNetworks, parseNetworks } from './networks.ts'
import { type OriginOf, originsFrom, parsePublicUrl } from './origins.ts'

export interface Edge {
  readonly isTrustedProxy: IsInNetworks
  /** What the links of an answer begin with. */
  readonly originOf: OriginOf
}

/** Throws a StartError on options that mean nothing. */
export function openEdge({ publicUrl, trustProxy = [] }: ServiceOptions): Edge {
  const isTrustedProxy = parseNetworks(trustProxy)
  return {
    isTrustedProxy,
    originOf: originsFrom({
      publicUrl: publicUrl === undefined ? undefined : parsePublicUrl(publicUrl),
      isTrustedProxy,
      isCertified: () => false,
    }),
  }
}
