// Builds that all test files of a run share. Each is made by the first file that needs it, and removed at the end of the run
// (`builds.ts`).

import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const root: string = new URL('../..', import.meta.url).pathname
const execute = promisify(execFile)

/**
 * Returns the folder that `command` filled, made of the sources as they are now, also in a run that watches them. `command` is a
 * shell script that gets the folder, the root and this Node as $1, $2 and $3.
 */
export async function builtOnce(name: string, sources: readonly string[], command: string): Promise<string> {
  const builds = process.env['DOCMOUNT_TEST_BUILDS'] ?? ''
  const changes: number[] = []
  for (const folder of sources)
    for (const file of await readdir(join(root, folder), { recursive: true }))
      if (file.endsWith('.ts')) changes.push((await stat(join(root, folder, file))).mtimeMs)
  const built = join(builds, `${name}-${changes.length}-${Math.max(...changes)}`)
  const once = `[ -e "$4" ] || { ${command} && mv "$1" "$4"; }`
  const args = ['sh', `${built}.part`, root, process.execPath, built]
  await execute('flock', [join(builds, `${name}.lock`), 'sh', '-c', once, ...args])
  return built
}
