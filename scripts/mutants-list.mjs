// The mutants of scripts/mutants.jsonl, one a line: kind, name, file, the text that stands there, and the text that stands
// there instead; where two safeguards hold the same thing, file and both texts of the other behind that. A kind is `fix`
// (a fix of a loss or a hang that was found in use, taken back; latest first) or `mutant` (file by file, what keeps documents safe).

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
