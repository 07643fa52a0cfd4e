// Implements `docmount dismiss`.

import { damageDismissed, namesDismissed } from '../daemon/dismissed-text.ts'
import { askDrive, findDrive } from './find-drive.ts'
import type { JsonOption } from './output.ts'

interface Dismissed {
  readonly names: number
  /** Names of the damaged files, which were set aside. */
  readonly files: readonly string[]
}

export async function runDismiss(path: string | undefined, { json }: JsonOption): Promise<Dismissed> {
  const { found, path: inside } = await findDrive(path)
  const { names } = await askDrive(found, 'dismissNames', { path: inside })
  if (json !== true) console.log(namesDismissed(names))
  if (inside !== '/') return { names, files: [] }
  const { files } = await askDrive(found, 'dismissDamage', {})
  if (json !== true) console.log(damageDismissed(files))
  return { names, files }
}
