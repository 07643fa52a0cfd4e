// A client and a service with a witness between them.

import { createClient, type Client } from '../../src/api/client.ts'
import { ApiError } from '../../src/api/errors.ts'
import type { Files } from '../../src/api/types.ts'
import type { Tables } from '../../src/api/table-types.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { startWitness, type Witness } from './witness.ts'

export interface Contract {
  readonly testService: TestService
  readonly witness: Witness
  readonly client: Client
  readonly files: Files
  readonly tables: Tables
  /** With a key the service does not know. */
  readonly stranger: Client
  close(): Promise<void>
}

export async function startContract(): Promise<Contract> {
  const testService = await startTestService()
  const witness = await startWitness(testService.baseUrl)
  const client = createClient({ baseUrl: witness.baseUrl, apiKey: testService.apiKey })
  const stranger = createClient({ baseUrl: witness.baseUrl, apiKey: 'unknown' })
  return {
    testService,
    witness,
    client,
    files: client.files(project),
    tables: client.tables(project),
    stranger,
    async close() {
      await client.close()
      await stranger.close()
      await witness.close()
      await testService.close()
    },
  }
}

/** The status a call is refused with, once the refusal proved to be the service's own words. */
export async function refusalOf(call: Promise<unknown>): Promise<number> {
  try {
    await call
  } catch (error) {
    if (error instanceof ApiError && error.errorMessage !== '') return error.status
    throw error
  }
  throw new Error('it was not refused')
}

/** `ENDPOINT STATUS` of every exchange. */
export function seenBy(witness: Witness): ReadonlySet<string> {
  return new Set(witness.exchanges.map(({ endpoint, status }) => `${endpoint} ${status}`))
}

/** Statuses that any request may meet, for its time, size or host, are had by other means: `service/openapi-refusals`. */
export const isOfAnyRequest = (line: string): boolean => / (?:408|415|429|431|503|507)$/.test(line)

/** Longer than a body may be. */
export const tooLong: string = 'x'.repeat(5 * 1024 * 1024)
