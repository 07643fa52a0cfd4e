// A request that is not answered as it was meant: a status and one sentence.

export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, sentence: string) {
    super(sentence)
    this.status = status
  }
}
