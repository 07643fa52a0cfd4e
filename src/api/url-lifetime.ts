// Lifetime of presigned URLs (interface, "Limits").

/** Milliseconds, counted from when the request for the URL was sent. */
export const urlLifetimeMs: number = 15 * 60_000
