// The mutants of scripts/mutants.jsonl: faults that mutants.mjs puts into the sources. A line is [kind, name, file, from, to]; `to`
// replaces the text `from`. If two safeguards prevent the same fault, file, from and to of the second follow. Kinds: `fix` undoes
// a fix of a fault found in use (latest first); `mutant` removes a safeguard of documents (ordered by file).

import { readFileSync } from 'node:fs'

const lines = readFileSync(new URL('mutants.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const all = lines.map((line) =>
  JSON.parse(line, (_, value) => (value.regexp === undefined ? value : new RegExp(value.regexp))),
)
const ofKind = (kind) => all.filter((mutant) => mutant[0] === kind).map((mutant) => mutant.slice(1))

export const fixes = ofKind('fix')
export const mutants = ofKind('mutant')
