// Lists of the objects in a bucket. Keys of ours have no characters that XML would escape.

import type { S3Client } from './client.ts'
import { elements, valueOf } from './xml.ts'

export interface ListedObject {
  /** Key without the client's prefix. */
  readonly key: string
  /** Epoch milliseconds. */
  readonly changedAt: number
}

/** Yields the objects whose key begins with `begin`, in pages. */
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
