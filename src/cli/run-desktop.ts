// Implements `docmount desktop install` and `remove`: copies the extensions and emblems in src/desktop/ to the folders, below a
// data folder, where each file manager looks for them.

import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { xdgBase } from '../daemon/xdg.ts'
import { printable } from '../printable.ts'
import { runTool } from '../run-tool.ts'
import { CommandError } from './command-error.ts'

const source = new URL('../desktop/', import.meta.url)

/** File managers that load extensions in Python: program, folder of the extensions, and the packages of Debian that it needs. */
const fileManagers = [
  { program: 'nautilus', folder: 'nautilus-python', packages: ['python3-nautilus'] },
  { program: 'nemo', folder: 'nemo-python', packages: ['nemo-python'] },
  { program: 'caja', folder: 'caja-python', packages: ['python3-caja', 'python3-gi'] },
  // Its own package depends on neither of the others, without which it loads no extension.
  {
    program: 'thunar',
    folder: 'thunarx-python',
    packages: ['thunarx-python', 'gir1.2-thunarx-3.0', 'python3-gi'],
  },
] as const

/** Targets below the data folder of each file in `source`. */
const places: Readonly<Record<string, readonly string[]>> = {
  'docmount.py': fileManagers.map(({ folder }) => `${folder}/extensions/docmount.py`),
  'docmount.desktop': ['kio/servicemenus/docmount.desktop'],
}
const emblemPlace = 'icons/hicolor/scalable/emblems'
const startAnew = 'start your file manager anew (nautilus -q, nemo -q, caja -q, thunar -q)'
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
  console.log(`installed in ${printable(base)}; ${startAnew}`)
  if (folder !== undefined) return
  for (const { program, packages } of fileManagers) {
    const missing = await missingPackages(program, packages)
    if (missing.length > 0)
      console.log(`${program} shows nothing of it without: apt install ${missing.join(' ')}`)
  }
}

export async function removeDesktop(folder: string | undefined): Promise<void> {
  const base = folder ?? dataFolder()
  const emblems = (await readdir(new URL('emblems/', source))).map((name) => join(emblemPlace, name))
  for (const target of [...Object.values(places).flat(), ...emblems])
    await rm(join(base, target), { force: true })
  console.log(`removed from ${printable(base)}; ${startAnew}`)
}

/** Returns the packages that a file manager lacks. None if it is not installed itself, or not by Debian's packages. */
async function missingPackages(program: string, packages: readonly string[]): Promise<string[]> {
  const query = ['--show', '--showformat', '${Package} ${db:Status-Status}\\n', program, ...packages]
  const { stdout } = await runTool('dpkg-query', query).catch(() => ({ stdout: '' }))
  const isInstalled = (name: string): boolean => stdout.split('\n').includes(`${name} installed`)
  return isInstalled(program) ? packages.filter((name) => !isInstalled(name)) : []
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
