// Completes the address of a service that a person typed: its scheme, and the `/api` at its end (interface, "Conventions").

import { UsageError } from './usage-error.ts'

/** Returns the URLs to try, the likeliest first. Throws UsageError if it cannot be a URL. */
export function possibleRoots(typed: string): readonly string[] {
  if (/^[a-z]+:\/\//i.test(typed)) return rootsOf(typed)
  const roots = rootsOf(`https://${typed}`)
  const { hostname } = new URL(roots[0] as string)
  // http only to this machine: the key must not cross a network unencrypted.
  const isThisMachine = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return isThisMachine ? [...rootsOf(`http://${typed}`), ...roots] : roots
}

function rootsOf(address: string): readonly string[] {
  const url = address.replace(/\/+$/, '')
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(url) || !URL.canParse(url)) {
    throw new UsageError('the service looks like https://host/api: scheme, host and path, nothing else')
  }
  return url.endsWith('/api') ? [url] : [`${url}/api`, url]
}
