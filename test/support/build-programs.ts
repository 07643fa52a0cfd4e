// Compiles the programs that tests start as processes, since Node 20 does not run TypeScript.

import { join } from 'node:path'
import { builtOnce } from './built-once.ts'

/** The npm packages that a program finds: those of this repository, or none, as if optional ones were not installed. */
export type Packages = 'installed' | 'none'

// Type errors are ignored here; `npm run check` reports them.
const compile = `
  "$2/node_modules/.bin/tsc" -p "$2/test/tsconfig.build.json" --outDir "$1"
  echo '{ "type": "module" }' >"$1/package.json"`

const commands: Readonly<Record<Packages, string>> = {
  none: compile,
  installed: `${compile} && ln -s "$2/node_modules" "$1/node_modules"`,
}

/** Returns the path of a compiled program, such as `serve-memory`. */
export async function programFile(name: string, packages: Packages = 'installed'): Promise<string> {
  const built = await builtOnce(`programs-${packages}`, ['src', 'test/support'], commands[packages])
  return join(built, 'test', 'support', `${name}.js`)
}
