// Words that a name may have or not: who is meant does not depend on them.

/** Legal forms and forms of address: written or left out at will. */
const formalWords: ReadonlySet<string> = new Set(
  (
    'ab ag and as bv co company corp corporation e ek ev fa firma frau gbr gmbh herr inc incorporated k kg kgaa limited ' +
    'llc llp ltd messrs mr mrs ms nv ohg oy plc pty sa sarl sas se sl spa srl the u ug und'
  ).split(' '),
)

/** `gmbh`, `limited`, `messrs`, … */
export function isFormal(word: string): boolean {
  return formalWords.has(word)
}
