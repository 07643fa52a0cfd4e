// Duration of another project's GETs while one long request keeps the service busy.

import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import Libsql from 'libsql'
import { Connection, bodyOf, requestHead, send, sendAlone, uploadOf } from './connection.mjs'
import { tableOf } from './table.mjs'

const assets = 100_000
const misspelt = 5_000
const folders = 100
/** Documents per transaction. */
const batch = 10_000
const word = (at) => `customer ${at.toString(36).padStart(4, 'q')} limited`

/** Prints the table. `documents`: documents in the folder that is deleted. `isQuick`: a tenth of everything else. */
export async function waits(service, isQuick, documents) {
  const scale = isQuick ? 0.1 : 1
  const key = `X-API-Key: ${service.key}`
  const call = async (method, path, body) => {
    const text = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    const headers = text === undefined ? [key] : [key, 'Content-Type: application/json']
    const head = requestHead(method, `/api/projects/bench${path}`, headers, text?.length)
    const answer = await sendAlone(service.port, { head, body: text })
    return answer.body === '' ? undefined : JSON.parse(answer.body)
  }
  const table = (await call('POST', '/tables', { name: 'waits', settings: { type: 'reconcile' } })).id
  const forward = (data) => call('POST', `/tables/${table}/forward`, { type: 'data', data })
  const rows = Array.from({ length: Math.round(assets * scale) }, (_, at) => ({
    asset_name: `row ${at}`,
    row_data: { vendor: word(at), total: at / 100 },
  }))
  for (let at = 0; at < rows.length; at += 5_000) await forward(rows.slice(at, at + 5_000))
  const sheet = await call('POST', '/tables/storage', { name: 'sheet', document: sheetOf(50_000) })
  const items = Array.from({ length: Math.round(misspelt * scale) }, (_, at) =>
    word(at * 7).replace('customer', 'custmer'),
  )
  await fill(service, 'many', documents, folders)
  const other = (await call('POST', '/tables', { name: 'large', settings: { type: 'reconcile' } })).id
  const many = rows.concat(rows).slice(0, 40_000 * scale)

  const lines = []
  const row = async (name, work) => {
    lines.push([name, ...(await others(service, work))])
    console.error(lines.at(-1).join(', '))
  }
  const seconds = (time) => new Promise((resolve) => setTimeout(resolve, time * 1000))
  const run = (data) => call('POST', `/tables/${table}/reconcile`, data)
  await row('nothing', () => seconds(5))
  await row(`a run of ${items.length} misspelt items over ${rows.length} rows, its index not made yet`, () =>
    run({ data: { vendor: items } }),
  )
  await forward([{ asset_name: 'one more', row_data: { vendor: 'one more' } }])
  await row('the same after one more row', () => run({ data: { vendor: items } }))
  await row(`a forward of ${many.length} rows in one body`, () =>
    call('POST', `/tables/${other}/forward`, { type: 'data', data: many }),
  )
  await row('a run over a stored sheet of 50,000 rows (refused: too many)', () =>
    run({ files: Array.from({ length: 10 }, () => ({ id: sheet.asset_ids[0] })) }).catch((error) => {
      if (!error.message.includes('413')) throw error
    }),
  )
  await row(`DELETE of a folder of ${documents} documents`, () => call('DELETE', '/files?path=/many'))
  await row('… and its clearing', () => cleared(service))
  // Made before the measurement, because it would block this process, which also sends the GETs.
  const large = Buffer.from(
    JSON.stringify({
      mimetype: 'application/pdf',
      filename: 'a',
      file_type: 'binary',
      file: Buffer.alloc(64 * 1024 * 1024, 'x').toString('base64'),
    }),
  )
  await row('PUT of 64 MiB', () => call('PUT', '/files?path=/large.pdf', large))
  await row('a table of a sheet of 50,000 rows is uploaded', () =>
    call('POST', '/tables/storage', { name: 'another sheet', document: sheetOf(50_000) }),
  )
  await row('docmount backup of all that', () => service.backUp())
  await fill(service, 'flat', documents, 1)
  await row(`a listing of ${documents} documents`, () => drained(service, 'bench/files?path=/flat/0'))
  await row('the pages of the OpenAPI document, 500 times', async () => {
    for (let at = 0; at < 500; at++) await drained(service, at % 2 === 0 ? '../docs' : '../openapi.json')
  })
  await row('the metrics of 10,000 projects, 20 times', async () => {
    addProjects(service, 10_000)
    for (let at = 0; at < 20; at++) await (await fetch(service.metricsUrl)).arrayBuffer()
  })
  const of = ['median', 'p99', 'longest', 'of', 'most memory']
  console.log(
    tableOf(['while this goes on', 'it takes', `another project's GET: ${of.shift()}`, ...of], lines),
  )
}

/** Reads a whole response and discards it. `path`: below /projects. */
async function drained(service, path) {
  const answer = await fetch(`${service.baseUrl}/projects/${path}`, { headers: { 'x-api-key': service.key } })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
  for await (const _ of answer.body);
}

/** Times GETs of another project, one after the other, until `work` is done. */
async function others(service, work) {
  service.forgetPeak()
  const connection = await new Connection(service.port).open()
  const head = requestHead('GET', '/api/projects/other/files?path=/', [
    `X-API-Key: ${service.keyOf('other')}`,
  ])
  await connection.send(head)
  const times = []
  const start = performance.now()
  const state = { took: undefined }
  const working = work().finally(() => (state.took = performance.now() - start))
  while (state.took === undefined) {
    const sent = performance.now()
    await connection.send(head)
    times.push(performance.now() - sent)
  }
  await working
  connection.close()
  times.sort((a, b) => a - b)
  const at = (share) => `${times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1)} ms`
  return [
    `${(state.took / 1000).toFixed(1)} s`,
    at(0.5),
    at(0.99),
    at(1),
    times.length,
    `${service.peakMegabytes()} MB`,
  ]
}

/**
 * Makes `/NAME` with `folders` folders by uploads, then `documents` documents with different contents. These are inserted into the
 * database directly, which is faster; storing them is not measured here.
 */
async function fill(service, name, documents, folders) {
  const connection = await new Connection(service.port).open()
  for (let at = 0; at < folders; at++)
    await send(
      connection,
      uploadOf('bench', service.key, `/${name}/${at}/first.txt`, bodyOf(Buffer.from('x'))),
    )
  connection.close()
  const database = new Libsql(join(service.dataDir, 'service.db'), { timeout: 30_000 })
  for (const pragma of ['synchronous = off', 'cache_size = -500000']) database.exec(`pragma ${pragma}`)
  const numbers =
    'with recursive number(at) as (select cast(? as integer) union all select at + 1 from number where at < ?)'
  const insertContents = database.prepare(`${numbers}
    insert into small_contents (sha256, bytes) select printf('%064x', at), x'78' from number where true on conflict do nothing`)
  const insert = database.prepare(`${numbers}
    insert into nodes (id, project_id, parent_id, name, path, kind, modified_at, size, mimetype, blob)
    select printf('%s-%032x', '${name}', at), first.project_id, first.parent_id, at || '.txt',
      '/${name}/' || (at % ${folders}) || '/' || at || '.txt', 'file', first.modified_at, first.size, first.mimetype,
      printf('%064x', at)
    from number join nodes first on first.path = '/${name}/' || (at % ${folders}) || '/first.txt'`)
  for (let at = folders; at < documents; at += batch) {
    const range = [at, Math.min(at + batch, documents) - 1]
    insertContents.run(range)
    insert.run(range)
  }
  database.close()
}

/** Inserts projects into the database directly: only the metrics of them are measured. */
function addProjects(service, count) {
  const database = new Libsql(join(service.dataDir, 'service.db'), { timeout: 30_000 })
  const numbers = `with recursive number(at) as (select 1 union all select at + 1 from number where at < ${count})`
  database.exec(`${numbers} insert into projects (id, name, created_at, clock_ms)
    select printf('bench-%d', at), printf('bench-%d', at), 0, 0 from number`)
  database.exec(`${numbers} insert into usage (project_id, documents, bytes)
    select printf('bench-%d', at), at, at * 1000 from number where true on conflict do nothing`)
  database.close()
}

/** Resolves when the service has removed all deleted documents. */
async function cleared(service) {
  const database = new Libsql(join(service.dataDir, 'service.db'), { readonly: true })
  const left = database.prepare('select count(*) as count from detached')
  while (left.get([]).count > 0) await new Promise((resolve) => setTimeout(resolve, 500))
  database.close()
}

function sheetOf(count) {
  const lines = Array.from(
    { length: count },
    (_, at) => `<row><c t="inlineStr"><is><t>x${at % 10}</t></is></c></row>`,
  )
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const file = zipSync({
    'xl/workbook.xml': strToU8(
      `<workbook xmlns:r="${relations}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    ),
    'xl/worksheets/sheet1.xml': strToU8(`<worksheet><sheetData>${lines.join('')}</sheetData></worksheet>`),
  })
  return {
    mimetype: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    filename: 'sheet.xlsx',
    file_type: 'binary',
    file: Buffer.from(file).toString('base64'),
  }
}
