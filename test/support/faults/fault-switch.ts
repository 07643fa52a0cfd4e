// Which faults are switched on, and whom they hit. Knows no HTTP: the hooks act on what it hands out.

import type { Call, Fault, FaultTarget, Faults } from './fault.ts'

type FaultKind = Fault['kind']
type FaultOf<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>

interface Injected {
  readonly fault: Fault
  readonly target: FaultTarget
  timesLeft: number
}

export class FaultSwitch implements Faults {
  readonly #injected = new Set<Injected>()
  #hits = 0
  random: () => number = Math.random

  get hits(): number {
    return this.#hits
  }

  inject(fault: Fault, target: FaultTarget = {}): () => void {
    const injected = { fault, target, timesLeft: target.times ?? Infinity }
    this.#injected.add(injected)
    return () => this.#injected.delete(injected)
  }

  clear(): void {
    this.#injected.clear()
  }

  /** As it was at the start. */
  reset(): void {
    this.clear()
    this.#hits = 0
    this.random = Math.random
  }

  /** The fault of this kind that hits this call, which counts as one of its times. Ask only where it would take effect. */
  take<Kind extends FaultKind>(kind: Kind, call: Call | undefined): FaultOf<Kind> | undefined {
    if (call === undefined) return undefined
    for (const injected of this.#injected) {
      const { fault, target } = injected
      if (fault.kind !== kind || !isTarget(target, call)) continue
      if (target.probability !== undefined && this.random() >= target.probability) continue
      this.#hits++
      if (--injected.timesLeft <= 0) this.#injected.delete(injected)
      return fault as FaultOf<Kind>
    }
    return undefined
  }
}

function isTarget(target: FaultTarget, call: Call): boolean {
  if (target.endpoint !== undefined && target.endpoint !== call.endpoint) return false
  if (target.method !== undefined && target.method.toUpperCase() !== call.method) return false
  if (target.path === undefined) return true
  // search() ignores lastIndex, which a global expression would carry from call to call.
  return typeof target.path === 'string' ? target.path === call.path : call.path.search(target.path) !== -1
}
