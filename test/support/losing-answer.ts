// A DELETE that the service carries out, but whose response is lost.

import type { Gate } from './gate.ts'

/** Loses the response to the next DELETE through the gate: holds it back, runs `meanwhile`, and closes the connection. */
export async function losingAnswerOfDelete(gate: Gate, meanwhile: () => Promise<void>): Promise<void> {
  const { decide } = gate
  await new Promise<void>((resolve) => {
    gate.decide = (request) => {
      if (request.method !== 'DELETE') return decide(request)
      gate.decide = decide
      // Later, when the gate has passed the DELETE on to the service.
      setImmediate(resolve)
      return 'keep-answer'
    }
  })
  await gate.quiet()
  await meanwhile()
  gate.cut()
}
