// Why a service does not start, in words for the person who starts it.

/** One line that says what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** Why nobody can listen there; anything else is passed as it is. */
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
