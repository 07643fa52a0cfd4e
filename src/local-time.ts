// Formats a time in the local time zone.

/** Returns `2026-11-22 12:00:03` for an ISO time or milliseconds; text that is not a time is returned unchanged. */
export function localTime(moment: string | number): string {
  const time = new Date(moment)
  // The Swedish locale writes dates as ISO 8601 does.
  return Number.isNaN(time.getTime()) ? String(moment) : time.toLocaleString('sv-SE')
}
