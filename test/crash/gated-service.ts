// One service with a gate before it, for all tests of a suite.

import { afterAll, beforeAll } from 'vitest'

import { startGate, type Gate } from '../support/gate.ts'
import { startTestService, type TestService } from '../support/service.ts'

export interface GatedService {
  readonly testService: TestService
  readonly gate: Gate
}

/** Started before the first test of the suite that calls it. */
export function useGatedService(): GatedService {
  const started: { testService?: TestService; gate?: Gate } = {}
  beforeAll(async () => {
    const testService = await startTestService()
    started.testService = testService
    started.gate = await startGate(() => Number(new URL(testService.baseUrl).port))
  })
  afterAll(async () => {
    await started.gate?.[Symbol.asyncDispose]()
    await started.testService?.close()
  })
  return started as GatedService
}
