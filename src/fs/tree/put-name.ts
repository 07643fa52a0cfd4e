// One entry of a map by names, changed so that it can be put back.

/** Makes the name stand for `value` from now on; undefined for nothing. Answers what undoes it. */
export function putName<T>(
  names: Pick<Map<string, T>, 'get' | 'delete'> & { set(name: string, value: T): unknown },
  name: string,
  value: T | undefined,
): () => void {
  const before = names.get(name)
  const set = (what: T | undefined): void => {
    if (what === undefined) names.delete(name)
    else names.set(name, what)
  }
  set(value)
  return () => set(before)
}
