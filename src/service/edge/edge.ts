// The edge between the wire and the routes: which proxies to believe, what links begin with, which certificate to show.

import type { ServiceOptions } from '../contract.ts'
import { Certificate } from './certificate.ts'
import { type IsInNetworks, parseNetworks } from './networks.ts'
import { type BaseUrlOf, originsFrom, parsePublicUrl } from './origins.ts'

export interface Edge {
  readonly isTrustedProxy: IsInNetworks
  /** The beginning of the links in an answer. */
  readonly originOf: BaseUrlOf
  /** Undefined where TLS is somebody else's task. */
  readonly certificate: Certificate | undefined
}

/** Throws a StartError on options that mean nothing. */
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
