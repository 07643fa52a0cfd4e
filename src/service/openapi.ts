// The frame of the OpenAPI document; the routes' schemas fill it.

import { STATUS_CODES } from 'node:http'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'

export const openApiOptions: FastifyDynamicSwaggerOptions = {
  openapi: {
    openapi: '3.1.0',
    // The version the interface description carries.
    info: { title: 'Project Document Service', version: '1.0.11' },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
    security: [{ apiKey: [] }],
  },
  transformObject: (source) => {
    const document = 'openapiObject' in source ? source.openapiObject : {}
    nameAnswers((document.paths ?? {}) as Paths)
    return document
  },
}

type Paths = Record<string, Record<string, { responses?: Record<string, { description: string }> }>>

/** An answer without words of its own gets those of its status. */
function nameAnswers(paths: Paths): void {
  for (const operations of Object.values(paths)) {
    for (const { responses = {} } of Object.values(operations)) {
      for (const [status, answer] of Object.entries(responses)) {
        if (answer.description !== 'Default Response') continue
        answer.description = STATUS_CODES[status] ?? 'Unexpected failure'
      }
    }
  }
}
