// Bundles the compiled command from some five hundred files into a few: bundle-program.mjs DIST. Part of `npm run build`.
// Otherwise every command and daemon would open, resolve and compile all of them at its start
// (docs/decisions/bundled-command.md). The modules for users of the library are not bundled.

import { chmod, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'rolldown'

const dist = resolve(process.argv[2])

/** Entry points: the command, and its threads and processes, which must be in the same folder (`src/sibling-file.ts`). */
const programs = {
  main: 'cli/main.js',
  'rows-thread': 'tables-drive/rows-thread.js',
  'matching-process': 'service/tables/matching-process.js',
  'backup-process': 'service/backup/backup-process.js',
  'writer-thread': 'service/store/writer-thread.js',
}

/** Packages that are not bundled: native code, those that read files of their own, and those that are rarely loaded. */
const externalPackages = [
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

/** Replaces undici's index, which loads all of undici (fetch, caches, WebSocket …): 25 ms of processor time at every start. */
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

const out = join(dist, 'program')
await build({
  input: Object.fromEntries(Object.entries(programs).map(([name, file]) => [name, join(dist, file)])),
  platform: 'node',
  external: externalPackages,
  plugins: [usedOfUndici],
  resolve: { modules: [new URL('../node_modules', import.meta.url).pathname] },
  output: { dir: out, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'part-[name]-[hash].js' },
})
await chmod(join(out, 'main.js'), 0o755)
await rm(join(dist, 'cli'), { recursive: true })
await rename(out, join(dist, 'cli'))
