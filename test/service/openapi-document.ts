// The OpenAPI document as the tests look at it.

import { Check } from 'typebox/schema'
import { expect } from 'vitest'

export interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly requestBody?: unknown
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>
        readonly content?: Readonly<Record<string, { readonly schema: object }>>
      }
    >
  >
}
export interface OpenApi {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly security: unknown
  readonly servers: unknown
  readonly components: { readonly securitySchemes: unknown; readonly schemas?: unknown }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** Headers that HTTP itself puts into an answer. */
const ofHttp = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
])

type DescribedHeaders = NonNullable<Operation['responses'][string]['headers']>

/** Every header is described, and what must be there is. */
export function expectHeaders(headers: Headers, described: DescribedHeaders): void {
  const schemas = new Map(Object.entries(described).map(([name, { schema }]) => [name.toLowerCase(), schema]))
  for (const [name, value] of headers) {
    if (ofHttp.has(name)) continue
    expect([...schemas.keys()]).toContain(name)
    const schema = schemas.get(name) as { type?: string }
    expect(Check(schema, schema.type === 'integer' ? Number(value) : value), `${name}: ${value}`).toBe(true)
  }
  const missing = Object.entries(described).filter(([name, { required }]) => required && !headers.has(name))
  expect(missing).toEqual([])
}
