// Says what a refused document is, for messages. Decides nothing: that is mimetype-of.ts.

import mime from 'mime'
import { extensionOf } from './mimetype-of.ts'

/** What a name the service has no type for stands for, such as `application/zip`; undefined where nobody knows. */
export function kindOfUnsupported(name: string): string | undefined {
  const extension = extensionOf(name)
  return extension === '' ? undefined : (mime.getType(extension) ?? undefined)
}
