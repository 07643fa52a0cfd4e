// One call of the binding: its caller, and references on nodes until it is answered.

import type { Caller, Operations } from '../../fs/operations.ts'

export class NativeRequest implements Caller {
  // The binding does not tell the caller: this process stands for it.
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

  /** Aborted when the mount ends; the binding does not pass on interrupts (Ctrl-C). */
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

  /** Adds a reference on a node, so that it stays valid even if the name cache gives back its own. */
  holdNode(ino: number): void {
    this.#operations.remember(ino)
    this.#held.push(ino)
  }

  /** Gives back all references that `holdNode` added. */
  releaseNodes(): void {
    for (const ino of this.#held) this.#operations.forget(ino, 1)
  }
}
