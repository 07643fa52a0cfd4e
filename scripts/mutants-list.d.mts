/** A fault for the sources: `to` replaces `from` in `file`. Further changes are appended to the tuple, each as file, from, to. */
export type Mutant = readonly [
  name: string,
  file: string,
  from: string | RegExp,
  to: string,
  ...furtherChanges: (string | RegExp)[],
]
/** Mutants that undo a fix of a fault found in use; the latest first. */
export const fixes: readonly Mutant[]
/** Mutants that remove a safeguard of documents, ordered by file. */
export const mutants: readonly Mutant[]
