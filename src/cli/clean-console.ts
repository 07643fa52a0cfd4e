// Output of a command, cleaned where all of it passes: a name that another client has chosen is in many sentences.

import { format } from 'node:util'
import { printableLines } from '../printable.ts'

/** For the whole program, from now on. Lines drawn on a terminal go past the console. */
export function cleanConsole(): void {
  for (const kind of ['log', 'error'] as const) {
    const print = console[kind].bind(console)
    console[kind] = (...said: unknown[]) => print(printableLines(format(...said)))
  }
}
