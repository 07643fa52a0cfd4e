// Programs of others at work on the OpenAPI document: two validators take it, and a generator makes types of it that compile.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate } from '@readme/openapi-parser'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTypes from 'openapi-typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../support/run.ts'
import { type TestService, startTestService } from './support.ts'

let service: TestService
let text = ''
/** A new one each time: tools replace references by what they refer to. */
const document = (): never => JSON.parse(text) as never

beforeAll(async () => {
  service = await startTestService()
  text = await (await service.call('GET', '/openapi.json')).text()
})
afterAll(() => service.close())

test("ReadMe's parser finds it valid, with nothing to warn of", async () => {
  expect(await validate(document())).toMatchObject({ valid: true, warnings: [] })
  const broken = JSON.parse(text) as { paths: Record<string, unknown> }
  broken.paths['/api/broken'] = { get: { responses: { 200: {} } } }
  expect(await validate(broken as never)).toMatchObject({ valid: false })
})

test("Redocly's strictest rules find nothing in it", async () => {
  // The service's description has no licence, so the rule that wants one is off.
  const config = await createConfig({ extends: ['recommended-strict'], rules: { 'info-license': 'off' } })
  const lint = async (source: string): Promise<string[]> =>
    (await lintFromString({ source, config, absoluteRef: 'openapi.json' })).map(
      ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`,
    )
  expect(await lint(text)).toEqual([])
  expect((await lint(text.replace('"operationId":"getFile"', '"operationId":"putFile"'))).join()).toContain(
    'operation-operationId-unique',
  )
})

// Of openapi-typescript the last version before 7: that one wants TypeScript 5 beside it, and uses its library.
test('openapi-typescript makes types of it that hold a client to the service', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'docmount-types-'))
  try {
    await writeFile(join(folder, 'api.ts'), await openapiTypes(document()))
    await writeFile(join(folder, 'client.ts'), client)
    const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc')
    const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', '']
    await run(tsc, [...options, join(folder, 'client.ts')])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const client = `import type { components, operations } from './api.js'
type Answers<Name extends keyof operations> = operations[Name]['responses']
export const upload: components['schemas']['Document'] =
  { mimetype: 'text/plain', filename: 'a', file_type: 'binary', file: 'eA==' }
export const nameOf = (file: Answers<'putFile'>[201]['content']['application/json']): string => file.name
type Refusal = components['responses']['NotFound']['content']['application/json']
export const wordsOf = (error: Refusal): string => error.errorMessage
// @ts-expect-error: there is no such kind.
export const wrong: components['schemas']['Document'] = { ...upload, file_type: 'other' }
// @ts-expect-error: a size is a number.
export const size: string | undefined = (undefined as never as components['schemas']['File']).size
`
