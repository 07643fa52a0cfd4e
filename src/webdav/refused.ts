// A request that is answered with an error of HTTP, decided by this door itself.

export interface RefusedOptions {
  /** The precondition of RFC 4918 that failed, e.g. `propfind-finite-depth`: told in the answer's body. */
  readonly condition?: string
  /** The resource the condition is about. */
  readonly href?: string
  readonly headers?: Readonly<Record<string, string>>
}

export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly options: RefusedOptions

  /** `sentence` is for the person in front of the client. */
  constructor(status: number, sentence: string, options: RefusedOptions = {}) {
    super(sentence)
    this.status = status
    this.options = options
  }
}
