// Compiles the programs tests start as processes of their own, since Node 20 runs no TypeScript. Takes under a second.

import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts'

const root = new URL('../..', import.meta.url).pathname

/** With the packages of this repository, or with none, as where optional ones are not installed. */
export type Packages = 'installed' | 'none'

const builds = new Map<Packages, Promise<TemporaryFolder>>()

/** The compiled program's file, e.g. of `serve-memory`; built once per test file. */
export async function programFile(name: string, packages: Packages = 'installed'): Promise<string> {
  const building = builds.get(packages) ?? build(packages)
  builds.set(packages, building)
  return join((await building).path, 'test', 'support', `${name}.js`)
}

/** Removes what was compiled. */
export async function removePrograms(): Promise<void> {
  for (const building of builds.values()) await (await building).remove()
  builds.clear()
}

async function build(packages: Packages): Promise<TemporaryFolder> {
  const folder = await makeTemporaryFolder()
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  const project = join(root, 'test', 'tsconfig.build.json')
  // Broken types are the compiler's to tell elsewhere; here only what runs counts.
  await run(compiler, ['-p', project, '--outDir', folder.path], { mayFail: true })
  await writeFile(join(folder.path, 'package.json'), '{ "type": "module" }')
  if (packages === 'installed') await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'))
  // Other users run the programs too.
  await run('chmod', ['755', folder.path])
  return folder
}
