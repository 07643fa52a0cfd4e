// Undo of changes in memory for a transaction of the journal that fails (not the user's undo: content/undo).

/** A step that undoes a change, or an object whose whole state is restored by the function that `snapshot` returns. */
export type Undo = (() => void) | { snapshot(): () => void }
