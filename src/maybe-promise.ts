// Answers that are there at once stay so.

import type { MaybePromise } from './fs/operations.ts'

export function andThen<T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(use) : use(value)
}
