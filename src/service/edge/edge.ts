// Settings of the service's network side, parsed from its options: trusted proxies, the base URL of links, the TLS certificate.

import type { ServiceOptions } from '../contract.ts'
import { Certificate } from './certificate.ts'
import { type IsInNetworks, parseNetworks } from './networks.ts'
import { type BaseUrlOf, originsFrom, parsePublicUrl } from './origins.ts'

export interface Edge {
  readonly isTrustedProxy: IsInNetworks
  /** The base URL of links in the response to a request. */
  readonly originOf: BaseUrlOf
  /** Undefined where the service has no TLS of its own. */
  readonly certificate: Certificate | undefined
}

/** Throws a StartError for invalid options. */
export function openEdge({ publicUrl, trustProxy = [], tls }: ServiceOptions): Edge {
  const isTrustedProxy = parseNetworks(trustProxy)
  const certificate = tls === undefined ? undefined : new Certificate(tls)
  return {
    isTrustedProxy,
    originOf: originsFrom({
      publicUrl: publicUrl === undefined ? undefined : parsePublicUrl(publicUrl),
      isTrustedProxy,
      isCertified: (host) => certificate?.isFor(host) === true,
    }),
    certificate,
  }
}
