// Values that are available at once or later. `andThen` uses an available value synchronously, without waiting for a turn of the
// event loop, as `await` would.

export type MaybePromise<T> = T | Promise<T>

export function andThen<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value)
}
