// S3's lists of what is in a bucket. They are flat XML, and our keys hold nothing that XML would write in another way.

import type { S3Client } from './client.ts'

export interface ListedObject {
  /** Without the prefix of the client. */
  readonly key: string
  /** Epoch milliseconds. */
  readonly changedAt: number
}

/** Objects whose key begins with `begin`, in pages. */
export async function* listObjects(client: S3Client, begin: string): AsyncGenerator<ListedObject[]> {
  const { prefix } = client
  for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
    const query = {
      'list-type': '2',
      prefix: `${prefix}${begin}`,
      ...(token === undefined ? {} : { 'continuation-token': token }),
    }
    const text = (await client.ask({ method: 'GET', query })).bytes.toString()
    yield elements(text, 'Contents').map((object) => ({
      key: (valueOf(object, 'Key') ?? '').slice(prefix.length),
      changedAt: Date.parse(valueOf(object, 'LastModified') ?? ''),
    }))
    token = valueOf(text, 'NextContinuationToken')
  }
}

/** The insides of all elements of this name. */
export function elements(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inside]) => inside!)
}

/** Of the first one; undefined where there is none. */
export function valueOf(text: string, name: string): string | undefined {
  return elements(text, name)[0]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
