// A moment as the clock on the wall here shows it.

/** `2026-11-22 12:00:03`; what is no time stays as it is. */
export function localTime(moment: string | number): string {
  const time = new Date(moment)
  // The Swedish form is the international one.
  return Number.isNaN(time.getTime()) ? String(moment) : time.toLocaleString('sv-SE')
}
