// Makes the compiled command a few files in place of some five hundred: bundle-program.mjs DIST. Part of `npm run build`.
// Every command and every daemon would otherwise open, resolve and compile each of them at its start
// (docs/decisions/bundled-command.md). Modules for a library's user stay as compiled.

import { chmod, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'rolldown'

const dist = resolve(process.argv[2])

/** Programs of their own: the command, and the threads and processes, which stand beside whoever starts them (`src/sibling-file.ts`). */
const programs = {
  main: 'cli/main.js',
  'rows-thread': 'tables-drive/rows-thread.js',
  'matching-process': 'service/tables/matching-process.js',
  'backup-process': 'service/backup/backup-process.js',
  'writer-thread': 'service/store/writer-thread.js',
}

/** Loaded from their packages: machine code, and what looks for files beside itself or is loaded only where it is used. */
const left = [
  'libsql',
  'fuse-native',
  'koffi',
  'pg',
  'pg-connection-string',
  'pgpass',
  'file-type',
  '@fastify/ajv-compiler',
  '@fastify/swagger',
]

/** Undici's own front loads all of it (fetch, caches, WebSocket …): 25 ms of processor at every start, for what nobody calls. */
const usedOfUndici = {
  name: 'docmount:used-of-undici',
  load: {
    filter: { id: /node_modules\/undici\/index\.js$/ },
    handler: () => `
      import api from './lib/api/index.js'
      import Dispatcher from './lib/dispatcher/dispatcher.js'
      Object.assign(Dispatcher.prototype, api)
      export { default as Agent } from './lib/dispatcher/agent.js'
      export { default as Client } from './lib/dispatcher/client.js'
      export { default as EnvHttpProxyAgent } from './lib/dispatcher/env-http-proxy-agent.js'
      export { default as buildConnector } from './lib/core/connect.js'
      export { default as DecoratorHandler } from './lib/handler/decorator-handler.js'
      export { default as errors } from './lib/core/errors.js'
    `,
  },
}

const made = join(dist, 'program')
await build({
  input: Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, join(dist, file)])),
  platform: 'node',
  external: left,
  plugins: [usedOfUndici],
  resolve: { modules: [new URL('../node_modules', import.meta.url).pathname] },
  output: { dir: made, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'part-[name]-[hash].js' },
})
await chmod(join(made, 'main.js'), 0o755)
await rm(join(dist, 'cli'), { recursive: true })
await rename(made, join(dist, 'cli'))
