// The data folder of a service: created if missing, refused if it holds files of another program, private (mode 0700).

import { chmod, mkdir, open, readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { refuseBackup } from './backup/manifest.ts'
import { StartError } from './start-error.ts'

const databases = ['service.db', 'service.lock']
/** Names of a service's files: a first start that was killed may have left some. `lost+found` is the file system's. */
const ownNames = /^(?:service\..*|download-secret(?:\.new)?|blobs|lost\+found)$/

/**
 * `isForContents`: a folder for contents only, without a database. Throws a StartError if it cannot be used; foreign files are left
 * alone.
 */
export async function prepareDataDir(dataDir: string, isForContents = false): Promise<void> {
  await makeFolder(dataDir)
  const names = await readdir(dataDir).catch((error: unknown) => {
    throw new StartError(`${dataDir} cannot be read (${codeOf(error)})`, { cause: error })
  })
  refuseBackup(dataDir)
  const foreign = names.filter((name) => !ownNames.test(name))
  if (isForContents && names.includes('service.db'))
    throw new StartError(`${dataDir} holds a database of its own: choose another folder for contents`)
  if (!names.includes('service.db') && foreign.length > 0) {
    const some = foreign.slice(0, 3).join(', ') + (foreign.length > 3 ? ', …' : '')
    throw new StartError(
      `${dataDir} holds files that are no service's (${some}): choose an empty folder, or one a service has used`,
    )
  }
  try {
    await chmod(dataDir, 0o700)
    for (const name of names.filter((known) => ownNames.test(known) && known !== 'lost+found'))
      await makePrivate(join(dataDir, name), name === 'blobs' ? 0o700 : 0o600)
    // SQLite creates the files beside a database with the mode of the database.
    if (!isForContents)
      for (const name of databases) await (await open(join(dataDir, name), 'a', 0o600)).close()
  } catch (error) {
    throw new StartError(
      `${dataDir} cannot be used (${codeOf(error)}): it has to belong to who runs the service`,
      {
        cause: error,
      },
    )
  }
}

/** Ignores a file that is gone by now: the last program to close a database removes the files beside it. */
async function makePrivate(path: string, mode: number): Promise<void> {
  try {
    await chmod(path, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

async function makeFolder(dataDir: string): Promise<void> {
  try {
    await makeWithParents(resolve(dataDir))
  } catch (error) {
    throw new StartError(`${dataDir} cannot be made (${codeOf(error)}): choose a folder you may write to`, {
      cause: error,
    })
  }
  if (!(await stat(dataDir)).isDirectory()) throw new StartError(`${dataDir} is not a folder`)
}

/** Node's own `recursive` never returns below /proc, where mkdir fails with ENOENT although the parent exists. */
async function makeWithParents(folder: string): Promise<void> {
  const make = (): Promise<void> => mkdir(folder, { mode: 0o700 })
  try {
    await make().catch(async (error: unknown) => {
      if (codeOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error
      await makeWithParents(dirname(folder))
      await make()
    })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed'
}
