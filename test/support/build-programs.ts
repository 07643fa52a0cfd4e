// Compiles the programs that tests start as processes, since Node 20 does not run TypeScript. Takes under a second.

import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts'

const root = new URL('../..', import.meta.url).pathname

/** The npm packages that a program finds: those of this repository, or none, as if optional ones were not installed. */
export type Packages = 'installed' | 'none'

const builds = new Map<Packages, Promise<TemporaryFolder>>()

/** Returns the path of a compiled program, such as `serve-memory`; compiled once per test file. */
export async function programFile(name: string, packages: Packages = 'installed'): Promise<string> {
  const building = builds.get(packages) ?? build(packages)
  builds.set(packages, building)
  return join((await building).path, 'test', 'support', `${name}.js`)
}

/** Removes the compiled programs. */
export async function removePrograms(): Promise<void> {
  for (const building of builds.values()) await (await building).remove()
  builds.clear()
}

async function build(packages: Packages): Promise<TemporaryFolder> {
  const folder = await makeTemporaryFolder()
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  const project = join(root, 'test', 'tsconfig.build.json')
  // Type errors are ignored here; `npm run check` reports them.
  await run(compiler, ['-p', project, '--outDir', folder.path], { mayFail: true })
  await writeFile(join(folder.path, 'package.json'), '{ "type": "module" }')
  if (packages === 'installed') await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'))
  // Readable by the ordinary users that run the programs.
  await run('chmod', ['755', folder.path])
  return folder
}
