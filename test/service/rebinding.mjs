// Runs alone in a network of its own (see fetch-uri-names.test.ts): a name server whose name leads to a public address at one time
// and to this machine at the next, a server at each, and a service that is told to copy from that name. Prints what came of it.
//   node rebinding.mjs SERVICE-MODULE DATA-FOLDER

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'

const [, , serviceModule, dataDir] = process.argv
const publicAddress = '8.8.8.8'
const innerAddress = '127.0.0.1'
const port = 8765
const rounds = 20

/** The answers for the name: one of these after the other, then from the beginning again. */
let answers = []
let asked = 0
const names = createSocket('udp4')
names.on('message', (query, from) => {
  const questionEnd = query.indexOf(0, 12) + 5
  const isForIpv4 = query.readUInt16BE(questionEnd - 4) === 1
  const addresses = isForIpv4 ? answers[asked++ % answers.length] : []
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  )
  const head = Buffer.from(query.subarray(0, 12))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  names.send(Buffer.concat([head, query.subarray(12, questionEnd), ...records]), from.port, from.address)
})
names.bind(53, innerAddress)
await once(names, 'listening')

let innerRequests = 0
const at = (address, handler) => createServer(handler).listen(port, address)
const servers = [
  at(publicAddress, (request, answer) => {
    if (request.url === '/sent-on') answer.writeHead(302, { location: `http://again.example:${port}/` }).end()
    else answer.end('public')
  }),
  at(innerAddress, (_, answer) => {
    innerRequests++
    answer.end('inner')
  }),
]

const { startService } = await import(serviceModule)
const service = await startService({ dataDir, projects: ['acme'] })
const headers = { 'x-api-key': service.projects[0].apiKey, 'content-type': 'application/json' }
let number = 0
/** The content that was copied, or the refusal. */
async function copyOf(file) {
  const url = `${service.baseUrl}/projects/acme/files?path=/${number++}.txt`
  const body = JSON.stringify({ mimetype: 'text/plain', filename: 'a', file_type: 'uri', file })
  const answer = await (await fetch(url, { method: 'PUT', headers, body })).json()
  return answer.errorMessage ?? (await (await fetch(answer.url)).text())
}

const outcomes = {}
for (const { name, uri, leadsTo } of [
  { name: 'one by one', uri: '/', leadsTo: [[publicAddress], [innerAddress]] },
  { name: 'both at once', uri: '/', leadsTo: [[publicAddress, innerAddress]] },
  { name: 'after being sent on', uri: '/sent-on', leadsTo: [[publicAddress], [innerAddress]] },
]) {
  answers = leadsTo
  asked = 0
  const found = new Set()
  for (let round = 0; round < rounds; round++) found.add(await copyOf(`http://name.example:${port}${uri}`))
  outcomes[name] = [...found]
}
console.log(JSON.stringify({ outcomes, innerRequests }))
await service.close()
for (const server of servers) server.close()
names.close()
