// A DELETE that is carried out and whose answer is lost, with something done before whoever sent it can know.

import type { Gate } from './gate.ts'

/** Of the next DELETE through the gate. Resolves when `meanwhile` is done and the connection cut. */
export async function losingAnswerOfDelete(gate: Gate, meanwhile: () => Promise<void>): Promise<void> {
  const { decide } = gate
  await new Promise<void>((resolve) => {
    gate.decide = (request) => {
      if (request.method !== 'DELETE') return decide(request)
      gate.decide = decide
      // Once it is on its way to the service.
      setImmediate(resolve)
      return 'keep-answer'
    }
  })
  await gate.quiet()
  await meanwhile()
  gate.cut()
}
