// A filesystem whose operations are counted and can be held back, as by a slow or silent service.

import { ErrnoError } from '../../src/errno-error.ts'
import type { Caller, Operations } from '../../src/fs/operations.ts'
import type { OperationName } from './serve-memory-protocol.ts'

interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
  readonly ignoresSignal: boolean
}

/** Synchronous operations, which cannot be held back. */
const immediate: readonly OperationName[] = ['forget', 'remember', 'releasedir', 'statfs']

export class HeldOperations {
  readonly operations: Operations
  /** Number of calls being held back. */
  waiting = 0
  #calls: Partial<Record<OperationName, number>> = {}
  readonly #gates = new Map<OperationName, Gate>()

  constructor(inner: Operations) {
    this.operations = new Proxy(inner, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => {
          const call = (): unknown => Reflect.apply(method, target, args)
          return this.#pass(name as OperationName, args.at(-1), call)
        }
      },
    })
  }

  /** Returns the number of calls by operation since the last `takeCalls`. */
  takeCalls(): Partial<Record<OperationName, number>> {
    const calls = this.#calls
    this.#calls = {}
    return calls
  }

  /** Holds later calls of an operation back until `letGo`. An aborted signal ends them with EINTR, unless `ignoresSignal`. */
  hold(name: OperationName, ignoresSignal: boolean): void {
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => (open = resolve))
    this.#gates.set(name, { opened, open, ignoresSignal })
  }

  letGo(name: OperationName): void {
    this.#gates.get(name)?.open()
    this.#gates.delete(name)
  }

  #pass(name: OperationName, caller: unknown, call: () => unknown): unknown {
    this.#calls[name] = (this.#calls[name] ?? 0) + 1
    const gate = this.#gates.get(name)
    return gate === undefined || immediate.includes(name) ? call() : this.#wait(gate, caller, call)
  }

  async #wait(gate: Gate, caller: unknown, call: () => unknown): Promise<unknown> {
    this.waiting++
    try {
      await (gate.ignoresSignal || !isCaller(caller)
        ? gate.opened
        : Promise.race([gate.opened, aborted(caller.signal)]))
    } finally {
      this.waiting--
    }
    return call()
  }
}

function isCaller(value: unknown): value is Caller {
  return typeof value === 'object' && value !== null && 'signal' in value
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new ErrnoError('EINTR', 'interrupted')), { once: true })
  })
}
