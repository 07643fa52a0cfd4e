// Where the service's root is, for an address a person typed: with its scheme, and with the `/api` it ends in (interface,
// "Conventions").

import { UsageError } from './usage-error.ts'

/** The address itself, then as the person may have meant it. Throws UsageError for what cannot be one. */
export function possibleRoots(typed: string): readonly string[] {
  if (/^[a-z]+:\/\//i.test(typed)) return rootsOf(typed)
  const roots = rootsOf(`https://${typed}`)
  const { hostname } = new URL(roots[0] as string)
  // In the clear a key goes nowhere but to this machine.
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return isHere ? [...rootsOf(`http://${typed}`), ...roots] : roots
}

function rootsOf(address: string): readonly string[] {
  const url = address.replace(/\/+$/, '')
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(url) || !URL.canParse(url)) {
    throw new UsageError('the service looks like https://host/api: scheme, host and path, nothing else')
  }
  return url.endsWith('/api') ? [url] : [`${url}/api`, url]
}
