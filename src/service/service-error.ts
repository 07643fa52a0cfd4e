// The one way a route refuses: a status and the sentence that becomes `errorMessage`.

/** Answered as `{errorMessage}` with `statusCode`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly statusCode: number

  constructor(statusCode: number, errorMessage: string, options?: ErrorOptions) {
    super(errorMessage, options)
    this.statusCode = statusCode
  }
}
