// So many at a time.

/** Calls `action` for every item, at most `count` at once, in order of start. */
export async function parallel(items, count, action) {
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      await action(items[at], at)
    }
  }
  await Promise.all(Array.from({ length: count }, worker))
}
