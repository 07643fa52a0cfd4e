// Events of the queue, and of the committer it runs, about an intention. A listener decides what follows, and returns
// nothing. Calls that need an answer are in `questions.ts`.

import type { RemoteFile } from '../../api/types.ts'
import type { Intention } from '../intention.ts'
import type { Job } from './job.ts'

/**
 * - `done`: the service has the change; `record` is the document now at the path (undefined for a delete).
 * - `contentSuperseded`: the service has an older state of content that is being written again; the intention stays.
 * - `superseded`: a newer intention took its place.
 * - `replaced`: queued behind that one, it goes on as `successor` in its place: that job gets its waiting calls and content.
 * - `refused`: the service refused it for good; the intention stays until a retry, or until a newer one comes.
 * - `conflictKept`: another client's version stood at the path, and is kept at `copy`.
 * - `standsOn`: its base is another version now: one put back, kept beside, or found to be a save from here.
 * - `moveDetached`: a refused move has its content in the spool now, if there is any, and leaves its source (`left`) to newer jobs.
 */
export type QueueEvent =
  | { readonly kind: 'done'; readonly intention: Intention; readonly record: RemoteFile | undefined }
  | {
      readonly kind: 'contentSuperseded'
      readonly intention: Intention
      readonly record: RemoteFile | undefined
    }
  | { readonly kind: 'superseded'; readonly intention: Intention }
  | { readonly kind: 'replaced'; readonly intention: Intention; readonly successor: Job | undefined }
  | { readonly kind: 'refused'; readonly intention: Intention; readonly error: unknown }
  | { readonly kind: 'conflictKept'; readonly intention: Intention; readonly copy: string }
  | { readonly kind: 'standsOn'; readonly intention: Intention }
  | { readonly kind: 'moveDetached'; readonly intention: Intention; readonly left?: string | undefined }
