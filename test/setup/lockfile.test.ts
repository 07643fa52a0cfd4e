// package-lock.json as `npm ci` wants it. npm leaves optional packages out that the registry it was made with did not
// offer; then `npm ci` refuses the whole file, on every machine. It also refuses, or warns of, packages that ask for another
// Node.js or npm. Installing from it with npm 9.2 is tried in package.test.ts.

import { readFile } from 'node:fs/promises'
import { satisfies } from 'semver'
import { expect, test } from 'vitest'

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly engines?: Readonly<Record<string, string>>
}

const root = new URL('../..', import.meta.url)
const text = await readFile(new URL('package-lock.json', root), 'utf8')
const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> }

test('no package asks for more than README does: Node.js 20.19, and the npm of Debian 13', async () => {
  expect(await readFile(new URL('README.md', root), 'utf8')).toContain('Node ≥ 20.19')
  const here = { node: ['20.19.0', '20.19.2', '22.13.0', '24.0.0'], npm: ['9.2.0'] }
  const refusing = Object.entries(packages).flatMap(([path, { engines = {} }]) =>
    Object.entries(here).flatMap(([program, versions]) =>
      versions
        .filter((version) => !satisfies(version, engines[program] ?? '*'))
        .map((version) => `${path}: ${program} ${engines[program]}, this is ${version}`),
    ),
  )
  expect(refusing).toEqual([])
})

test('every optional dependency of every package is in the lockfile', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  )
  expect(missing).toEqual([])
})
