// Questions of commit/ to the code that knows names and nodes. A fact that needs no answer is told as an event (`queue-event.ts`).

import type { Mimetype } from '../../api/mimetypes.ts'
import type { ReadableContent } from '../../api/readable-content.ts'
import type { CarriedContent, Intention } from '../intention.ts'
import type { Going } from '../undo/record.ts'

/**
 * All that commit/ asks of the layer above, handed in where the parts are put together. A question is for what an attempt cannot
 * go on without: it waits for the answer, and fails with it. Whatever needs no answer is an event.
 */
export interface Questions {
  /**
   * The version at `path` is about to be destroyed: whoever still needs its bytes takes them before this resolves. `going`: for good,
   * and not because they are at another path by now.
   */
  preserve(path: string, signal: AbortSignal, going?: Going): Promise<void>
  /** Brings here what a refused move was to take away, and hands it to `take` while it stays as it is. */
  materialize(
    intention: Intention,
    take: (content: CarriedContent) => void,
    signal: AbortSignal,
  ): Promise<void>
  /** The mimetype for a document of this name, by its content where the name does not decide. Throws EOPNOTSUPP. */
  mimetypeOf(path: string, content: ReadableContent): Promise<Mimetype>
  /** The errno name that callers are told of an error. */
  errnoOf(error: unknown): string
}
