// One call of the binding while it is served: who asks, and the references it holds on nodes until it is answered.

import type { Caller, Operations } from '../../fs/operations.ts'

export class NativeRequest implements Caller {
  // The binding does not say who calls.
  readonly uid: number = process.getuid?.() ?? 0
  readonly gid: number = process.getgid?.() ?? 0
  readonly pid: number = 0
  readonly #operations: Operations
  readonly #held: number[] = []
  #controller: AbortController | undefined
  #isAborted = false

  constructor(operations: Operations) {
    this.#operations = operations
  }

  /** Aborted when the mount ends; Ctrl-C does not reach us through this binding. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }

  /** Keeps a node alive until the request ends, whatever the name cache forgets meanwhile. */
  hold(ino: number): void {
    this.#operations.remember(ino)
    this.#held.push(ino)
  }

  end(): void {
    for (const ino of this.#held) this.#operations.forget(ino, 1)
  }
}
