// Prints a text every second until Ctrl-C: on a terminal in place of the last one, elsewhere only when it has changed.

import { setTimeout as sleep } from 'node:timers/promises'
import { printableJson, printableLines } from '../printable.ts'
import { exitWhenReaderCloses } from './lost-output.ts'

const everyMs = 1_000

/** Never resolves. Throws an error of `readText`. With `isJson`, each text is JSON, printed as one line. */
export async function watch(readText: () => Promise<string>, isJson: boolean): Promise<never> {
  exitWhenReaderCloses()
  let last: string | undefined
  for (;;) {
    const text = isJson
      ? printableJson(JSON.stringify(JSON.parse(await readText())))
      : printableLines(await readText())
    if (process.stdout.isTTY && !isJson) process.stdout.write(`\u001b[H\u001b[J${text}\n`)
    else if (text !== last) process.stdout.write(isJson || last === undefined ? `${text}\n` : `\n${text}\n`)
    last = text
    await sleep(everyMs)
  }
}
