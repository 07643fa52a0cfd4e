// The error with which a route refuses a request.

/** Sent as `{errorMessage}` with `statusCode`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly statusCode: number

  constructor(statusCode: number, errorMessage: string, options?: ErrorOptions) {
    super(errorMessage, options)
    this.statusCode = statusCode
  }
}
