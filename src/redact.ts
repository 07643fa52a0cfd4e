// Removes secrets from text before it is logged. A last line of defence: callers never pass secrets on purpose.

/** Removes the query of every URL (the signature of a presigned one) and the value of every `x-api-key` header. */
export function redact(text: string): string {
  return text
    .replace(/(https?:\/\/[^\s"'\\?<>]+)\?[^\s"'\\<>]*/g, '$1?[redacted]')
    .replace(/(x-api-key\\?["']?\s*[:=,]\s*\\?["']?)[^\s"'\\,}]+/gi, '$1[redacted]')
}
