// Where the service's root is, for an address a person typed: with its scheme, and with the `/api` it ends in (interface,
// "Conventions").

import { UsageError } from './usage-error.ts'

/** The address itself, then as the person may have meant it. Throws UsageError for what cannot be one. */
export function possibleRoots(typed: string): readonly string[] {
  const withScheme = /^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`
  const url = withScheme.replace(/\/+$/, '')
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(url) || !URL.canParse(url)) {
    throw new UsageError('the service looks like https://host/api: scheme, host and path, nothing else')
  }
  return url.endsWith('/api') ? [url] : [`${url}/api`, url]
}
