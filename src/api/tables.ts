// The tables of one project over HTTP (interface, "/projects/{project_name}/tables"). Holds no state.

import type { World } from '../world/world.ts'
import { InputError } from './errors.ts'
import type { Caller, CallSpec } from './caller.ts'
import { encodeSegment, projectTarget } from './remote-path.ts'
import { forwardResultFromWire, reconcileResultFromWire, schemaFromWire } from './table-wire.ts'
import { tableFromWire, tablesFromWire, taskIdFromWire } from './table-wire.ts'
import type { Tables } from './table-types.ts'
import type { CallOptions } from './types.ts'
import { jsonBody, uploadBody } from './upload-body.ts'

const reconcileDeadlineMs = 10 * 60_000
const uploadDeadlineMs = 120_000

/** Returns the tables of a project, without a request. Throws InputError for a name that no URL can contain. */
export function createTables(project: string, call: Caller, { clock, chance }: World): Tables {
  const tables = projectTarget(project, '/tables')
  const under = (tableId: string, rest: string): string =>
    `${tables}/${encodeSegment(tableId, 'table id')}${rest}`

  const get = (target: string, options: CallOptions | undefined): Promise<unknown> =>
    call({ method: 'GET', path: target, target, repeatable: 'freely', options })
  const post = (
    target: string,
    body: object,
    options: CallOptions | undefined,
    rest?: Pick<CallSpec, 'deadlineMs'>,
  ): Promise<unknown> =>
    call({
      method: 'POST',
      path: target,
      target,
      body: jsonBody(JSON.stringify(body)),
      repeatable: 'if-not-stored',
      options,
      ...rest,
    })

  return {
    project,

    async list(options) {
      return tablesFromWire({ method: 'GET', path: tables }, await get(tables, options))
    },

    async create(table, options) {
      const { name, id = chance.uuid(), settings = {} } = table
      const { createdAt = new Date(clock.wall()).toISOString() } = table
      const answer = await post(tables, { name, id, created_at: createdAt, settings }, options)
      return tableFromWire({ method: 'POST', path: tables }, answer)
    },

    async createStorage(name, document, options) {
      const target = `${tables}/storage`
      const { zeroRetentionMode } = document
      return await call({
        method: 'POST',
        path: target,
        target,
        body: uploadBody({ method: 'POST', path: target }, document, {
          wrap: (wrapped) => ({ name, document: wrapped }),
          zeroRetentionMode,
        }),
        repeatable: 'if-not-stored',
        options,
        deadlineMs: uploadDeadlineMs,
        isDeadlineForProgress: true,
      })
    },

    async schema(tableId, options) {
      const target = under(tableId, '/schema')
      return schemaFromWire({ method: 'GET', path: target }, await get(target, options))
    },

    async reconcile(tableId, input, options) {
      const target = under(tableId, '/reconcile')
      const answer = await post(target, input, options, { deadlineMs: reconcileDeadlineMs })
      return reconcileResultFromWire({ method: 'POST', path: target }, answer)
    },

    async createTask(tableId, input, options) {
      const target = under(tableId, '/tasks')
      return taskIdFromWire({ method: 'POST', path: target }, await post(target, input, options))
    },

    async forward(tableId, items, options) {
      if (items.length === 0) throw new InputError('forward needs at least one row')
      const target = under(tableId, '/forward')
      const data = items.map((item) => ({ asset_name: item.assetName, row_data: item.rowData }))
      const answer = await post(target, { type: 'data', data }, options)
      return forwardResultFromWire({ method: 'POST', path: target }, answer)
    },
  }
}
