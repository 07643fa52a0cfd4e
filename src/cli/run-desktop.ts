// Implements `docmount desktop install` and `remove`: copies the extensions and emblems in src/desktop/ to the folders, below a
// data folder, where each file manager looks for them.

import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { xdgBase } from '../daemon/xdg.ts'
import { printable } from '../printable.ts'
import { CommandError } from './command-error.ts'

const source = new URL('../desktop/', import.meta.url)
/** Targets below the data folder of each file in `source`. */
const places: Readonly<Record<string, readonly string[]>> = {
  'docmount.py': ['nautilus', 'nemo', 'caja', 'thunarx'].map(
    (fileManager) => `${fileManager}-python/extensions/docmount.py`,
  ),
  'docmount.desktop': ['kio/servicemenus/docmount.desktop'],
}
const emblemPlace = 'icons/hicolor/scalable/emblems'
/** Data folder of the Debian package, for all users. If the extension is there, one more would show a second menu. */
const sharedDataFolder = '/usr/share'

/**
 * `folder`: the data folder of a package that is being built, where docmount is on the PATH. Default: the user's own data folder.
 * Throws CommandError if the extensions are installed for all users.
 */
export async function installDesktop(folder: string | undefined): Promise<void> {
  const [extension] = places['docmount.py'] ?? []
  if (folder === undefined && existsSync(join(sharedDataFolder, extension ?? '')))
    throw new CommandError('the package of docmount has installed it for everybody')
  const program = folder === undefined ? [process.execPath, await realpath(process.argv[1] ?? '')] : undefined
  const base = folder ?? dataFolder()
  for (const [name, targets] of Object.entries(places)) {
    const text = withProgram(await readFile(new URL(name, source), 'utf8'), program)
    for (const target of targets) {
      await mkdir(dirname(join(base, target)), { recursive: true })
      // Dolphin ignores a service menu in a user's folder unless the file is executable.
      await writeFile(join(base, target), text, { mode: name.endsWith('.desktop') ? 0o755 : 0o644 })
    }
  }
  await cp(new URL('emblems/', source), join(base, emblemPlace), { recursive: true })
  console.log(`installed in ${printable(base)}; start your file manager anew (nautilus -q)`)
}

export async function removeDesktop(folder: string | undefined): Promise<void> {
  const base = folder ?? dataFolder()
  const emblems = (await readdir(new URL('emblems/', source))).map((name) => join(emblemPlace, name))
  for (const target of [...Object.values(places).flat(), ...emblems])
    await rm(join(base, target), { force: true })
  console.log(`removed from ${printable(base)}; start your file manager anew (nautilus -q)`)
}

/** The user's data folder, which the XDG rules name. */
function dataFolder(): string {
  return xdgBase('data')
}

/** Returns the extension with the command replaced by `program`: the desktop's session may not have docmount on its PATH. */
function withProgram(text: string, program: readonly string[] | undefined): string {
  if (program === undefined) return text
  const quoted = program.map((word) => `"${word.replaceAll(/["`$\\]/g, '\\$&').replaceAll('%', '%%')}"`)
  return text
    .replace("COMMAND = ['docmount']", () => `COMMAND = ${JSON.stringify(program)}`)
    .replaceAll('Exec=docmount ', () => `Exec=${quoted.join(' ')} `)
}
