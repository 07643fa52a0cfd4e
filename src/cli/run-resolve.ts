// Implements `docmount resolve`.

import type { Keep, Resolved } from '../daemon/resolve-conflict.ts'
import { resolvedText } from '../daemon/resolved-text.ts'
import { printable } from '../printable.ts'
import { askDrive, findDrive } from './find-drive.ts'

export async function runResolve(
  path: string,
  { keep, json }: { readonly keep: Keep; readonly json?: boolean },
): Promise<Resolved> {
  const { found, path: inside } = await findDrive(path)
  const resolved = await askDrive(found, 'resolve', { path: inside, keep })
  if (json !== true) console.log(printable(resolvedText(resolved, keep)))
  return resolved
}
