// Options --data and --file of `reconcile` and `tasks create`, and the input of a reconciliation that they give.

import type { ReconcileInput } from '../api/table-types.ts'
import { UsageError } from './usage-error.ts'
import { readJsonObject, uuid } from './with-tables.ts'

export interface ReconcileInputOptions {
  readonly data?: string
  readonly file?: readonly string[]
}

/** For `.option(…)`. */
export const dataOption: readonly [string, string] = [
  '--data <file>',
  'JSON object of the values to match, - for standard input',
]

/** For `.option(…)`. */
export const fileOption: readonly [string, string] = [
  '--file <id...>',
  'ids of documents whose rows are matched too (docmount tables store prints them)',
]

/** Adds the lowest score of a match, in the way the reference service takes it; the interface does not define it. */
export function withThreshold(input: ReconcileInput, threshold: number | undefined): ReconcileInput {
  return threshold === undefined ? input : { ...input, data: { ...input.data, match_threshold: threshold } }
}

/** Throws UsageError if neither option is given, or an id is not a UUID. */
export async function readReconcileInput({
  data,
  file = [],
}: ReconcileInputOptions): Promise<ReconcileInput> {
  if (data === undefined && file.length === 0) {
    throw new UsageError('nothing to reconcile; add --data FILE or --file ID')
  }
  const invalid = file.find((id) => !uuid.test(id))
  if (invalid !== undefined) {
    throw new UsageError(
      `--file takes ids of stored documents, not "${invalid}"; docmount tables store prints them`,
    )
  }
  return {
    ...(data === undefined ? {} : { data: await readJsonObject(data) }),
    ...(file.length === 0 ? {} : { files: file.map((id) => ({ id })) }),
  }
}
