// GET /openapi.json, and GET /docs: the same as a page to read. One answer, nothing loaded from anywhere, no script.

import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly { name: string; in: string; required?: boolean; description?: string }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { schema?: unknown }>> }
  readonly responses?: Readonly<Record<string, Answer | { readonly $ref: string }>>
}

interface Answer {
  readonly description?: string
  readonly content?: Readonly<Record<string, { schema?: unknown }>>
}

interface Document {
  readonly info: { readonly title: string; readonly version: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: {
    readonly schemas?: Readonly<Record<string, unknown>>
    readonly responses?: Readonly<Record<string, Answer>>
  }
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}
h2{margin-top:2em}code,pre,b{font-family:ui-monospace,monospace}pre{background:#f4f4f4;padding:1em;overflow:auto}
details{border-top:1px solid #ccc;padding:.4em 0}summary{cursor:pointer}td,th{padding:.1em 1em .1em 0;text-align:left;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}pre{background:#2a2a2a}a{color:#8bf}}`
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`

export function registerDocsPage(scope: FastifyInstance, openApi: () => Promise<object>): void {
  // Made once, because requests without a key must not cost much.
  let document: Promise<object> | undefined
  let text: string | undefined
  let page: string | undefined
  scope.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .send((text ??= JSON.stringify(await (document ??= openApi())))),
  )
  scope.get('/docs', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' })
      .type('text/html; charset=utf-8')
      .send((page ??= pageOf((await (document ??= openApi())) as Document))),
  )
}

function pageOf({ info, paths = {}, components }: Document): string {
  const title = escape(`${info.title} ${info.version}`)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(method, path, operation)),
  )
  const refusals = Object.entries(components?.responses ?? {}).map(
    ([name, { description = '' }]) => `<tr><td><code>${escape(name)}</code><td>${escape(description)}`,
  )
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) =>
      `<details id="${escape(name)}"><summary><b>${escape(name)}</b></summary>${code(schema)}</details>`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style><h1>${title}</h1>
<p>Every request carries the key of a project in the header <code>X-API-Key</code>. Errors are
<code>{"errorMessage": "…"}</code>. For programs: <a href="openapi.json">openapi.json</a>.</p>
<h2>Requests</h2>${operations.join('\n')}<h2>Refusals</h2><table>${refusals.join('')}</table>${schemas.length === 0 ? '' : `<h2>Schemas</h2>${schemas.join('\n')}`}</html>`
}

function operationOf(method: string, path: string, operation: Operation): string {
  const { summary = '', description, parameters = [], requestBody, responses = {} } = operation
  const rows = parameters.map(
    ({ name, in: where, required, description: words = '' }) =>
      `<tr><td><code>${escape(name)}</code><td>${escape(where)}${required === true ? ', required' : ''}<td>${escape(words)}`,
  )
  const answers = Object.entries(responses).map(([status, answer]) =>
    '$ref' in answer
      ? `<div>${escape(status)} ${escape(answer.$ref.split('/').at(-1) ?? '')}</div>`
      : `<h4>${escape(status)} ${escape(answer.description ?? '')}</h4>${code(answer.content?.['application/json']?.schema)}`,
  )
  const body = requestBody?.content?.['application/json']?.schema
  return `<details><summary><b>${escape(method.toUpperCase())} ${escape(path)}</b><br>${escape(summary)}</summary>
${description === undefined ? '' : `<p>${escape(description)}</p>`}
${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}
${body === undefined ? '' : `<h4>Body</h4>${code(body)}`}${answers.join('')}</details>`
}

function code(schema: unknown): string {
  return schema === undefined ? '' : `<pre>${escape(JSON.stringify(schema, null, 2))}</pre>`
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
