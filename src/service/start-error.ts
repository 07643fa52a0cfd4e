// Errors that keep a service from starting, for the person who starts it.

import { ExpectedError } from '../expected-error.ts'

/** Its message is one line that says what to do. */
export class StartError extends ExpectedError {
  override readonly name = 'StartError'
}

/** A StartError for a known error of `listen` at this address; any other error as it is. */
export function listenErrorOf(error: unknown, host: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (code === 'EADDRINUSE')
    return new StartError(`another program listens at ${place}; choose another place with --listen`)
  if (code === 'EACCES')
    return new StartError(`this user may not listen at ${place}; choose a port from 1024 with --listen`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(`${host} is no address of this machine; choose another with --listen`)
  return error
}
