// The environments of this user's processes, from /proc. They lead to runtime folders of daemons that no variable of this shell
// names.

import { readFile, readdir, stat } from 'node:fs/promises'

type Environment = Readonly<Record<string, string | undefined>>

/** Resolves with an empty list if there is no /proc. */
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

/** Undefined for another user's process, which root could read, too. */
async function environmentOf(folder: string, uid: number | undefined): Promise<Environment | undefined> {
  if ((await stat(folder)).uid !== uid) return undefined
  const text = await readFile(`${folder}/environ`, 'utf8')
  const entries = text.split('\0').map((entry) => /^([^=]+)=(.*)$/s.exec(entry)?.slice(1) ?? [])
  return Object.fromEntries(entries.filter(([name]) => name !== undefined)) as Environment
}
