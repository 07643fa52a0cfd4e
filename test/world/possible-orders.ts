// Calls of several programs that overlap: whether they can have happened one after another, each at some moment between its
// beginning and its answer (linearizability; the search is that of Wing and Gong, carried on from answer to answer).

/** The new state after a call, and its answer, if it happens then. */
export type Effect<State> = (state: State) => { readonly state: State; readonly answer: string }

/** One way in which all that was answered so far can have come about. */
interface Possibility<State> {
  readonly state: State
  /** Calls that have happened in it and are not answered yet: what they are going to answer. */
  readonly happened: ReadonlyMap<number, string>
}

/** More than this are not followed: nothing is said until the state is known again. */
const mostPossibilities = 20_000

export class PossibleOrders<State> {
  readonly #keyOf: (state: State) => string
  readonly #underWay = new Map<number, Effect<State>>()
  #possible: readonly Possibility<State>[] | undefined
  #last = 0

  /** `keyOf`: two states with one key are one. */
  constructor(state: State, keyOf: (state: State) => string) {
    this.#keyOf = keyOf
    this.known(state)
  }

  /** The state is this; no call is under way. */
  known(state: State): void {
    this.#underWay.clear()
    this.#possible = [{ state, happened: new Map() }]
  }

  /** A call begins. Answers its number. */
  begin(effect: Effect<State>): number {
    this.#underWay.set(++this.#last, effect)
    return this.#last
  }

  /** A call is answered; undefined: it failed, and may have happened or not. False where no order leads to that. */
  end(call: number, answer: string | undefined): boolean {
    if (!this.#underWay.has(call) || this.#possible === undefined) return true
    const left = new Map<string, Possibility<State>>()
    const seen = new Set<string>()
    const open = [...this.#possible]
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      const key = this.#key(each)
      if (seen.has(key)) continue
      seen.add(key)
      const told = each.happened.get(call)
      if (told === undefined ? answer === undefined : answer === undefined || told === answer) {
        const happened = new Map(each.happened)
        happened.delete(call)
        const possibility = { state: each.state, happened }
        left.set(this.#key(possibility), possibility)
      }
      if (told === undefined) open.push(...this.#next(each))
    }
    this.#underWay.delete(call)
    this.#possible = left.size > mostPossibilities ? undefined : [...left.values()]
    return left.size > 0
  }

  /** Something happens now, whatever is under way. */
  happens(change: (state: State) => State): void {
    this.#possible = this.#possible?.map(({ state, happened }) => ({ state: change(state), happened }))
  }

  /** One more call happens. */
  *#next({ state, happened }: Possibility<State>): Iterable<Possibility<State>> {
    for (const [call, effect] of this.#underWay) {
      if (happened.has(call)) continue
      const after = effect(state)
      yield { state: after.state, happened: new Map(happened).set(call, after.answer) }
    }
  }

  #key({ state, happened }: Possibility<State>): string {
    const answers = [...happened].sort(([one], [other]) => one - other)
    return `${this.#keyOf(state)} ${answers.join(' ')}`
  }
}
