// Values that are there at once or come later: `andThen` uses those that are there in the same turn of the event loop.

export type MaybePromise<T> = T | Promise<T>

export function andThen<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value)
}
