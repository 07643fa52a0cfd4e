// Another client of the same project: plain HTTP with the project's key, without docmount's own code. Tests use it to see what
// the service has stored, and to change documents without docmount's knowledge.

/** A File or Folder as the wire has it (interface, "Resources and their fields"). */
export interface WireNode {
  readonly ftype: 'file' | 'folder'
  readonly name: string
  readonly size?: number
  readonly mimetype?: string
  readonly modified_at?: string
  readonly url?: string
  readonly entries?: readonly WireNode[]
}

/** One request of this client, in the format of the service's record of calls. */
export interface OwnCall {
  readonly endpoint: 'files' | 'download'
  readonly method: string
  readonly path: string
}

export interface OtherClient {
  /** Requests since the last `clearCalls`, to subtract them from the service's record. */
  readonly calls: readonly OwnCall[]
  clearCalls(): void
  /** Returns the node at a path; undefined if there is none. */
  get(path: string): Promise<WireNode | undefined>
  /** Downloads a document. */
  bytes(path: string): Promise<Buffer>
  /** Uploads a document, replacing one that is there. */
  put(path: string, content: string | Uint8Array, mimetype?: string): Promise<void>
  delete(path: string): Promise<void>
  /**
   * Returns every document below a folder as `relative path → content`: none if the folder is missing; undefined if a
   * document was deleted between its listing and its download.
   */
  documents(folder: string): Promise<Map<string, Buffer> | undefined>
}

/** A client of `project` at `baseUrl`. */
export function otherClient(baseUrl: string, project: string, apiKey: string): OtherClient {
  let calls: OwnCall[] = []

  async function call(method: string, path: string, body?: object): Promise<Response> {
    calls.push({ endpoint: 'files', method, path })
    const url = `${baseUrl}/projects/${encodeURIComponent(project)}/files?path=${encodeURIComponent(path)}`
    return fetch(url, {
      method,
      headers: { 'X-API-Key': apiKey, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  async function get(path: string): Promise<WireNode | undefined> {
    const answer = await call('GET', path)
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as WireNode
  }

  async function download(path: string, url: string | undefined): Promise<Buffer | undefined> {
    if (url === undefined) throw new Error(`${path} has no url`)
    calls.push({ endpoint: 'download', method: 'GET', path })
    const answer = await fetch(url)
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`download of ${path}: ${answer.status}`)
    return Buffer.from(await answer.arrayBuffer())
  }

  async function remove(path: string, mayBeGone = false): Promise<void> {
    const answer = await call('DELETE', path)
    if (mayBeGone && answer.status === 404) return
    if (answer.status !== 204) throw new Error(`DELETE ${path}: ${answer.status} ${await answer.text()}`)
  }

  return {
    get calls() {
      return calls
    },
    clearCalls() {
      calls = []
    },
    get,
    async bytes(path) {
      const node = await get(path)
      if (node?.ftype !== 'file') throw new Error(`${path} is no document`)
      const content = await download(path, node.url)
      if (content === undefined) throw new Error(`${path} went away`)
      return content
    },
    async put(path, content, mimetype = mimetypeOf(path)) {
      const filename = path.slice(path.lastIndexOf('/') + 1)
      const file = Buffer.from(content as Uint8Array).toString('base64')
      const document = { mimetype, filename, file_type: 'binary', file }
      let answer = await call('PUT', path, document)
      // Repeated, because the drive may store at the same path meanwhile.
      for (let attempt = 0; answer.status === 409 && attempt < 5; attempt++) {
        await remove(path, true)
        answer = await call('PUT', path, document)
      }
      if (answer.status !== 201) throw new Error(`PUT ${path}: ${answer.status} ${await answer.text()}`)
      await answer.arrayBuffer()
    },
    delete: (path) => remove(path),
    async documents(folder) {
      const documents = new Map<string, Buffer>()
      async function walk(path: string, prefix: string): Promise<boolean> {
        for (const entry of (await get(path))?.entries ?? []) {
          const child = `${path === '/' ? '' : path}/${entry.name}`
          if (entry.ftype === 'folder') {
            if (!(await walk(child, `${prefix}${entry.name}/`))) return false
          } else {
            const content = await download(child, entry.url)
            if (content === undefined) return false
            documents.set(`${prefix}${entry.name}`, content)
          }
        }
        return true
      }
      return (await walk(folder, '')) ? documents : undefined
    },
  }
}

const mimetypesByExtension: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  json: 'application/json',
  xml: 'application/xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  eml: 'message/rfc822',
}

function mimetypeOf(path: string): string {
  return mimetypesByExtension[path.slice(path.lastIndexOf('.') + 1)] ?? 'text/plain'
}
