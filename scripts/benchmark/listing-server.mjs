// A service that only answers listings, and generates them on request: storing a million documents would take an hour. Runs as
// a separate process, and prints its port. Arguments: FOLDERS PER_FOLDER.

import { hash } from 'node:crypto'
import { createServer } from 'node:http'

const [folders = 1000, perFolder = 1000] = process.argv.slice(2).map(Number)
const modifiedAt = '2026-01-02T03:04:05.000Z'

const server = createServer((request, response) => {
  const path = (new URL(request.url, 'http://localhost').searchParams.get('path') ?? '/').replace(/^\/+/, '')
  const folder = path === '' ? root() : folderOf(path)
  const text = JSON.stringify(folder ?? { errorMessage: 'not found' })
  response.writeHead(folder === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(text)
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))

function root() {
  const entries = Array.from({ length: folders }, (_, at) => ({ ftype: 'folder', name: `folder-${at}` }))
  return { ftype: 'folder', name: '', entries }
}

function folderOf(path) {
  if (!/^folder-\d+$/.test(path)) return undefined
  const entries = Array.from({ length: perFolder }, (_, at) => ({
    ftype: 'file',
    name: `document-${at}.pdf`,
    size: 1000 + at,
    mimetype: 'application/pdf',
    modified_at: modifiedAt,
    url: `http://127.0.0.1:${server.address().port}/downloads/${path}/${at}?expires=1767225600&signature=${hash('sha256', `${path}/${at}`)}`,
  }))
  return { ftype: 'folder', name: path, entries }
}
