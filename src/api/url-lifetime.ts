// Lifetime of presigned URLs.

/** Milliseconds, counted from when the request that brought the URL was sent (interface, "Limits"). */
export const urlLifetimeMs: number = 15 * 60_000
