// How well payments are matched with invoices, by the engine and by what one would write instead. The others are tuned on
// their own seeds; who is better is judged on seeds nothing was tuned on. Prints the table of docs/reconciliation.md, or one
// half of it: quality.js [with|without].

import type { Contestant } from './contestants.ts'
import { engine } from './engine.ts'
import { fuse, wholeRow } from './fuzzy.ts'
import { Tally } from './judge.ts'
import { type Statement, makeStatement } from './payments.ts'
import { rules } from './rules.ts'

const trainingSeeds: readonly number[] = Array.from({ length: 6 }, (_, at) => 1 + at)
const judgedSeeds: readonly number[] = Array.from({ length: 20 }, (_, at) => 1001 + at)

/** Of those, the first ones that a slow contestant is given. */
const slowTraining = 2
const slowJudged = 4

type Settings = Readonly<Record<string, number>>

/** The combination of settings with the best F1 on the training seeds. */
function tune(contestant: Contestant, statements: readonly Statement[], withReferences: boolean): Settings {
  const prepared = statements.map((statement) => contestant.prepare(statement, withReferences))
  let best: { f1: number; settings: Settings } | undefined
  for (const settings of combinations(contestant.settings)) {
    const tally = new Tally()
    for (const [at, match] of prepared.entries()) tally.add(match(settings), statements[at]!.truth)
    if (best === undefined || tally.f1 > best.f1) best = { f1: tally.f1, settings }
  }
  return best?.settings ?? {}
}

function combinations(settings: Contestant['settings']): Settings[] {
  return Object.entries(settings).reduce<Settings[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  )
}

const percent = (share: number): string => (share * 100).toFixed(1)

function main(): void {
  const training = trainingSeeds.map(makeStatement)
  const judged = judgedSeeds.map(makeStatement)
  console.log(
    `tuned on seeds ${trainingSeeds.join(' ')}; judged on seeds ${judgedSeeds.join(' ')} (fuse.js: the first ${slowTraining} and ${slowJudged})\n`,
  )
  const columns = process.argv[2] === undefined ? [true, false] : [process.argv[2] === 'with']
  for (const withReferences of columns) {
    console.log(`| ${withReferences ? 'with' : 'without'} references | precision | recall | F1 | tuned to |`)
    console.log('|---|---|---|---|---|')
    for (const contestant of [engine, rules, fuse, wholeRow]) {
      const isSlow = contestant.isSlow === true
      const settings = tune(contestant, isSlow ? training.slice(0, slowTraining) : training, withReferences)
      const tally = new Tally()
      for (const statement of isSlow ? judged.slice(0, slowJudged) : judged)
        tally.add(contestant.prepare(statement, withReferences)(settings), statement.truth)
      const told = Object.entries(settings).map(([name, value]) => `${name} ${Number(value.toFixed(3))}`)
      if (process.env['TELL_SECONDS'] !== undefined)
        console.error(contestant.name, process.cpuUsage().user / 1e6)
      const figures = [tally.precision, tally.recall, tally.f1].map(percent)
      console.log(`| ${[contestant.name, ...figures, told.join(', ')].join(' | ')} |`)
    }
    console.log('')
  }
}

main()
