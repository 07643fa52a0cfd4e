// Questions of commit/ to the layer above, which knows names and nodes. A fact that needs no answer is an event (`queue-event.ts`).

import type { Mimetype } from '../../api/mimetypes.ts'
import type { ReadableContent } from '../../api/readable-content.ts'
import type { CarriedContent, Intention } from '../intention.ts'
import type { Going } from '../undo/record.ts'

/**
 * All calls from commit/ to the layer above, passed in where the parts are put together (`fs/assemble.ts`). An attempt waits for
 * the answer, and fails if the call does.
 */
export interface Questions {
  /**
   * Called before the version at `path` is destroyed: nodes that still need its bytes fetch them before this resolves. `going`:
   * given if the version is replaced or deleted, not moved to another path, so that it is kept for undo.
   */
  preserve(path: string, signal: AbortSignal, going?: Going): Promise<void>
  /** For a move that must leave its source to a newer change, or a folder: brings its content here, and hands it to `take` unchanged. */
  materialize(
    intention: Intention,
    take: (content: CarriedContent) => void,
    signal: AbortSignal,
  ): Promise<void>
  /** The mimetype for a document of this name, by its content where the name does not decide. Throws EOPNOTSUPP. */
  mimetypeOf(path: string, content: ReadableContent): Promise<Mimetype>
  /** The errno name that callers get for an error. */
  errnoOf(error: unknown): string
}
