// An error by which this door answers a request with an HTTP status.

export interface RefusedOptions {
  /** Precondition of RFC 4918 that failed, e.g. `propfind-finite-depth`; sent in the body. */
  readonly condition?: string
  /** The resource the condition is about. */
  readonly href?: string
  readonly headers?: Readonly<Record<string, string>>
}

export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly options: RefusedOptions

  /** `sentence`: message for the user. */
  constructor(status: number, sentence: string, options: RefusedOptions = {}) {
    super(sentence)
    this.status = status
    this.options = options
  }
}
