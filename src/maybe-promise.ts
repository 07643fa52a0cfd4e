// Answers that are there at once stay so.

export type MaybePromise<T> = T | Promise<T>

export function andThen<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value)
}
