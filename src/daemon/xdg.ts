// Paths of a user's folders (XDG base directories). Creates none.

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

const places = {
  config: { variable: 'XDG_CONFIG_HOME', fallback: '.config' },
  state: { variable: 'XDG_STATE_HOME', fallback: '.local/state' },
  data: { variable: 'XDG_DATA_HOME', fallback: '.local/share' },
  cache: { variable: 'XDG_CACHE_HOME', fallback: '.cache' },
} as const

/** Returns docmount's folder of that kind. By the XDG rules an empty or relative variable counts as unset. */
export function xdgFolder(kind: keyof typeof places, env: Environment = process.env): string {
  return join(xdgBase(kind, env), 'docmount')
}

/** Returns the folder that records which contents were forwarded to which table, by any drive or command. */
export function forwardedFolder(env: Environment = process.env): string {
  return join(xdgFolder('state', env), 'forwarded')
}

/** Returns the folder of that kind for all programs. */
export function xdgBase(kind: keyof typeof places, env: Environment = process.env): string {
  const { variable, fallback } = places[kind]
  return absoluteOrUndefined(env[variable]) ?? join(homeOf(env), fallback)
}

/** Returns the folder of sockets and mount records, which a restart of the machine empties. For root without a session in /run. */
export function runtimeFolder(
  env: Environment = process.env,
  uid: number | undefined = process.getuid?.(),
): string {
  const runtime = absoluteOrUndefined(env['XDG_RUNTIME_DIR'])
  if (runtime !== undefined) return join(runtime, 'docmount')
  return uid === 0 ? '/run/docmount' : join(xdgFolder('state', env), 'run')
}

/** Returns the home folder; `$HOME` first, so that tests and services can set it. */
export function homeOf(env: Environment = process.env): string {
  return absoluteOrUndefined(env['HOME']) ?? homedir()
}

function absoluteOrUndefined(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined
}
