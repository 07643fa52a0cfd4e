// package-lock.json as `npm ci` wants it. npm leaves optional packages out that the registry it was made with did not
// offer; then `npm ci` refuses the whole file, on every machine.

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

test('every optional dependency of every package is in the lockfile', async () => {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Record<string, LockedPackage> }
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  )
  expect(missing).toEqual([])
})
