// Change of one entry in a map by names that can be undone.

/** Sets the entry of a name; undefined removes it. Returns a function that undoes the change. */
export function putName<T>(
  names: Pick<Map<string, T>, 'get' | 'delete'> & { set(name: string, value: T): unknown },
  name: string,
  value: T | undefined,
): () => void {
  const before = names.get(name)
  const set = (entry: T | undefined): void => {
    if (entry === undefined) names.delete(name)
    else names.set(name, entry)
  }
  set(value)
  return () => set(before)
}
