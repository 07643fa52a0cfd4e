// Takes secrets out of text that is about to be written down. The last line of defence: callers do not log them at all.

/** Cuts the query off every URL (a presigned URL's signature lives there) and the value of an API key header. */
export function redact(text: string): string {
  return text
    .replace(/(https?:\/\/[^\s"'\\?<>]+)\?[^\s"'\\<>]*/g, '$1?[redacted]')
    .replace(/(x-api-key\\?["']?\s*[:=,]\s*\\?["']?)[^\s"'\\,}]+/gi, '$1[redacted]')
}
