// Events of the queue, and of the committer it runs, about an intention: a listener decides what follows, and answers
// nothing. Questions that need an answer are in `questions.ts`.

import type { RemoteFile } from '../../api/types.ts'
import type { Intention } from '../intention.ts'
import type { Job } from './job.ts'

/**
 * - `done`: the service agrees; `record` is what stands at the path now (undefined for a delete).
 * - `contentSuperseded`: the service has an older state of content that is being written again; the intention stays.
 * - `superseded`: a newer intention took its place.
 * - `replaced`: it goes on as another: whoever waits for it, or carries its content, follows.
 * - `refused`: the service said no for good; the intention stays until somebody retries, or something newer comes.
 * - `conflictKept`: another client's version stood in the way, and is kept at `copy`.
 * - `standsOn`: its base is another version now: one put back, kept beside, or found to be of a save from here.
 * - `moveDetached`: a refused move keeps its content here now, if there is any; what stands at its source (`left`) is for what is newer there.
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
