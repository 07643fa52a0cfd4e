// A step on the strength of a transaction of the journal can be undone, where that fails: memory says what the journal says.

/** The way to put memory back: a step, or all of a thing as it is now. */
export type Undo = (() => void) | { snapshot(): () => void }
