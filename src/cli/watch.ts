// Tells the same thing again and again, until Ctrl-C: drawn anew on a terminal, elsewhere whenever it has changed.

import { setTimeout as sleep } from 'node:timers/promises'
import { printableJson, printableLines } from '../printable.ts'
import { endWithReader } from './lost-output.ts'

const everyMs = 1_000

/** Never resolves; Ctrl-C ends the program. An error of `tell` ends it too. With `isJson` each answer is one line. */
export async function watch(tell: () => Promise<string>, isJson: boolean): Promise<never> {
  endWithReader()
  let last: string | undefined
  for (;;) {
    const text = isJson
      ? printableJson(JSON.stringify(JSON.parse(await tell())))
      : printableLines(await tell())
    if (process.stdout.isTTY && !isJson) process.stdout.write(`\u001b[H\u001b[J${text}\n`)
    else if (text !== last) process.stdout.write(isJson || last === undefined ? `${text}\n` : `\n${text}\n`)
    last = text
    await sleep(everyMs)
  }
}
