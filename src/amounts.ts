// Byte counts and durations as text for people, the same in every message and page.

/** Returns `1 byte`, `512 bytes`, `1.2 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return '1 byte'
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return unit === 0 ? `${value} bytes` : `${value.toFixed(1)} ${units[unit]}`
}

/** Returns `4 s`, `3 min`, `2 h 5 min`; at least `1 s`. */
export function secondsText(seconds: number): string {
  if (seconds < 99.5) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
