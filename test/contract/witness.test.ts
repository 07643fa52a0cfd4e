// The witness itself: what does not fit the document is told.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { project } from '../support/service.ts'
import { type Contract, startContract } from './contract-setup.ts'

let contract: Contract

beforeAll(async () => {
  contract = await startContract()
})
afterAll(() => contract.close())

async function post(path: string, body: object): Promise<number> {
  const headers = { 'x-api-key': contract.testService.apiKey, 'content-type': 'application/json' }
  const url = contract.witness.baseUrl + path
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status
}

test('a status that is not described is told', async () => {
  const { faults } = contract.testService.service
  faults.inject({ kind: 'status', status: 418 }, { times: 1 })
  expect(await post(`/projects/${project}/tables`, { name: 't' })).toBe(418)
  expect(contract.witness.complaints).toEqual(['POST /projects/{project_name}/tables: 418 is not described'])
})

test('an endpoint that is not described is told: those known by name only answer 501', async () => {
  expect(await post('/extract', {})).toBe(501)
  expect(contract.witness.complaints.at(-1)).toBe('no described endpoint answered 501')
})
