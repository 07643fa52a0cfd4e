// Lists of the objects in a bucket. S3 sends flat XML, and our keys have no characters that XML would escape.

import type { S3Client } from './client.ts'

export interface ListedObject {
  /** Key without the client's prefix. */
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

/** The text inside each element of this name. */
export function elements(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inside]) => inside!)
}

/** The unescaped text of the first element of this name; undefined where there is none. */
export function valueOf(text: string, name: string): string | undefined {
  return elements(text, name)[0]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
