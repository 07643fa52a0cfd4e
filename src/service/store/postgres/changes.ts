// The changes of `../changes.ts` on PostgreSQL, where several processes make them. Each is one transaction; a change of a project
// locks the project's row first, so that it reads the result of the previous change.

import { type ChangeArgument, type ChangeName, type ChangeResult, changes } from '../changes.ts'
import { createFile, insertRow } from '../create-file.ts'
import type { NodeRow, Store } from '../database.ts'
import { clearFolder, freePath, nextDetached } from '../detached.ts'
import { engineOf } from '../engine-adapter.ts'
import type { Commits } from '../opened-store.ts'
import { prepared } from '../prepared.ts'
import { isUniqueViolation, transact } from '../transact.ts'
import { checkQuota } from '../usage.ts'
import { adopt } from './blobs.ts'
import { tryLock } from './locks.ts'

type Change<Name extends ChangeName> = (
  store: Store,
  argument: ChangeArgument<Name>,
) => Promise<ChangeResult<Name>>

export class SharedCommits implements Commits {
  readonly #store: Store
  #otherChangeCount = 0

  /** `store` is used only for these changes. */
  constructor(store: Store) {
    this.#store = store
  }

  async run<Name extends ChangeName>(
    name: Name,
    argument: ChangeArgument<Name>,
  ): Promise<ChangeResult<Name>> {
    const work = (): Promise<ChangeResult<Name>> => this.#change(name, argument)
    const projectId = projectOf(argument)
    return projectId === undefined ? work() : engineOf(this.#store).inTurn(projectId, work)
  }

  async #change<Name extends ChangeName>(
    name: Name,
    argument: ChangeArgument<Name>,
  ): Promise<ChangeResult<Name>> {
    const change: Change<Name> = sharedChanges[name]
    try {
      return await transact(this.#store, (transaction) => change(transaction, argument))
    } catch (error) {
      // On PostgreSQL the error ends the transaction, so it is repeated: a deleted node may have had the path.
      if (name !== 'createFile' || !isUniqueViolation(error)) throw error
      const file = argument as ChangeArgument<'createFile'>
      const made = transact(this.#store, (transaction) => putFile(transaction, file, insertInPlace))
      return made as Promise<ChangeResult<Name>>
    }
  }

  get otherChangeCount(): number {
    return this.#otherChangeCount
  }

  noteOther(): void {
    this.#otherChangeCount++
  }
}

function projectOf(argument: ChangeArgument<ChangeName>): string | undefined {
  if ('file' in argument) return argument.file.projectId
  return 'projectId' in argument ? argument.projectId : undefined
}

const sharedChanges: { [Name in ChangeName]: Change<Name> } = {
  ...changes,
  createFile: (store, argument) => putFile(store, argument, insertRow),
  removeTree: async (store, argument) => {
    await lockProject(store, { id: argument.projectId })
    return changes.removeTree(store, argument)
  },
  clearDetached: async (store) => {
    // Only one process clears at a time: others would wait for its locks.
    if (!(await tryLock(store, 'clearing'))) return undefined
    const folder = await nextDetached(store)
    if (folder === undefined) return undefined
    await lockProject(store, { id: folder.project_id })
    return clearFolder(store, folder)
  },
}

async function putFile(
  store: Store,
  { file, now, content, quota }: ChangeArgument<'createFile'>,
  insert: (store: Store, node: NodeRow) => Promise<unknown>,
): Promise<NodeRow> {
  await lockProject(store, { id: file.projectId })
  if (content !== undefined) await adopt(store, content, null)
  const made = await createFile(store, file, now, insert)
  if (quota !== undefined) await checkQuota(store, file.projectId, quota)
  return made
}

async function insertInPlace(store: Store, node: NodeRow): Promise<void> {
  await freePath(store, node.project_id, node.path)
  await insertRow(store, node)
}

// Not `for update`, which would wait for every transaction that adds a row with a reference to the project.
const lockProject = prepared((store, params: { id: string }) =>
  store.selectFrom('projects').select('id').where('id', '=', params.id).forNoKeyUpdate(),
)
