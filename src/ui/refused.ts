// An error that answers a request with an HTTP status and one sentence.

export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, sentence: string) {
    super(sentence)
    this.status = status
  }
}
