// Words that do not distinguish names, and are often left out.

/** Legal forms and forms of address. */
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
