// Replaces control characters in all output of a command: messages quote names that other clients chose.

import { format } from 'node:util'
import { printableLines } from '../printable.ts'

/** Replaces console.log and console.error for the whole process. Progress lines do not use the console. */
export function cleanConsole(): void {
  for (const kind of ['log', 'error'] as const) {
    const print = console[kind].bind(console)
    console[kind] = (...values: unknown[]) => print(printableLines(format(...values)))
  }
}
