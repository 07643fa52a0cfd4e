// The shortest list of steps that still fails: delta debugging (Zeller 1999), which leaves out ever smaller parts of what
// is left for as long as that helps.

import type { Failure } from './simulation.ts'

export interface Found {
  readonly kept: readonly number[]
  readonly failure: Failure
}

/** `fails`: what a run of these steps alone fails with. No further one is begun after `longestMs`. */
export async function shortest(
  first: Failure,
  longestMs: number,
  fails: (kept: ReadonlySet<number>) => Promise<Failure | undefined>,
): Promise<Found> {
  let kept: readonly number[] = first.taken
  let failure = first
  const endsAt = performance.now() + longestMs
  let size = kept.length
  while (size > 0) {
    let isShorter = false
    for (let from = 0; from < kept.length;) {
      if (performance.now() >= endsAt) return { kept, failure }
      const rest = [...kept.slice(0, from), ...kept.slice(from + size)]
      const again = await fails(new Set(rest))
      if (again === undefined || kindOf(again) !== kindOf(first)) {
        from += size
        continue
      }
      kept = rest
      failure = again
      isShorter = true
    }
    size = size > 1 ? Math.floor(size / 2) : isShorter ? 1 : 0
  }
  return { kept, failure }
}

/** Another failure on the way is another matter: told apart by how it begins. */
function kindOf({ message }: Failure): string {
  return message.replaceAll(/[/\d].*/gs, '').slice(0, 40)
}

/** `1-3,5` for 1, 2, 3 and 5. */
export function written(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join()
}

/** The other way. */
export function read(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}
