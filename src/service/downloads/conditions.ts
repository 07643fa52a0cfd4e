// If-Match and If-None-Match (RFC 9110 §13.1): what a client asks of the content before it wants an answer.

/** A caching proxy that compresses makes an ETag weak, and sends it back so: for If-None-Match it is the same. */
export function isKnown(header: string | undefined, etag: string): boolean {
  return header !== undefined && tagsOf(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
}

/** False where the client wants another content than there is. */
export function isWanted(header: string | undefined, etag: string): boolean {
  return header === undefined || tagsOf(header).some((tag) => tag === '*' || tag === etag)
}

function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}
