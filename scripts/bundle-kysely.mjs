// Makes one file of Kysely in a build: bundle-kysely.mjs DIST. Part of `npm run build`.

import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'rolldown'

const file = join(resolve(process.argv[2]), 'service/store/kysely.js')
await build({
  input: file,
  platform: 'node',
  resolve: { modules: [new URL('../node_modules', import.meta.url).pathname] },
  output: { file, format: 'esm', codeSplitting: false },
})
await rm(`${file}.map`, { force: true })
