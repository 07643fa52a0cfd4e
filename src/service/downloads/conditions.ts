// The conditional headers If-None-Match and If-Match (RFC 9110 §13.1).

/** If-None-Match: true if the client has this content. Weak tags (`W/`) count, because compressing proxies make them of ours. */
export function isKnown(header: string | undefined, etag: string): boolean {
  return header !== undefined && tagsOf(header).some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag)
}

/** If-Match: false if the client expects another content. */
export function isWanted(header: string | undefined, etag: string): boolean {
  return header === undefined || tagsOf(header).some((tag) => tag === '*' || tag === etag)
}

function tagsOf(header: string): string[] {
  return header.split(',').map((tag) => tag.trim())
}
