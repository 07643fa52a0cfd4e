// The environments this user's processes were started with, as /proc tells: they lead to what a daemon keeps in folders that no
// variable of this shell names.

import { readFile, readdir, stat } from 'node:fs/promises'

type Environment = Readonly<Record<string, string | undefined>>

/** Empty where the system has no /proc. */
export async function ownEnvironments(
  uid: number | undefined = process.geteuid?.(),
): Promise<readonly Environment[]> {
  const names = await readdir('/proc').catch(() => [])
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
      .map((name) => environmentOf(`/proc/${name}`, uid).catch(() => undefined)),
  )
  return found.filter((environment) => environment !== undefined)
}

/** Root may read everybody's: only this user's own are asked for. */
async function environmentOf(folder: string, uid: number | undefined): Promise<Environment | undefined> {
  if ((await stat(folder)).uid !== uid) return undefined
  const text = await readFile(`${folder}/environ`, 'utf8')
  const entries = text.split('\0').map((entry) => /^([^=]+)=(.*)$/s.exec(entry)?.slice(1) ?? [])
  return Object.fromEntries(entries.filter(([name]) => name !== undefined)) as Environment
}
