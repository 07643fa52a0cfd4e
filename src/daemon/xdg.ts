// Where a person's files belong (XDG base directories). Pure: decides paths, makes nothing.

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

const places = {
  config: { variable: 'XDG_CONFIG_HOME', fallback: '.config' },
  state: { variable: 'XDG_STATE_HOME', fallback: '.local/state' },
  cache: { variable: 'XDG_CACHE_HOME', fallback: '.cache' },
} as const

/** docmount's own folder of that kind. As the XDG rules say, an empty or relative variable counts as unset. */
export function xdgFolder(kind: keyof typeof places, env: Environment = process.env): string {
  return join(xdgBase(kind, env), 'docmount')
}

/** Which contents were forwarded to which table, over all drives and commands. */
export function forwardedFolder(env: Environment = process.env): string {
  return join(xdgFolder('state', env), 'forwarded')
}

/** The folder of that kind which all programs share. */
export function xdgBase(kind: keyof typeof places, env: Environment = process.env): string {
  const { variable, fallback } = places[kind]
  return absoluteOrUndefined(env[variable]) ?? join(homeOf(env), fallback)
}

/** Sockets and mount records: gone after a restart of the machine. Root without a session has /run. */
export function runtimeFolder(
  env: Environment = process.env,
  uid: number | undefined = process.getuid?.(),
): string {
  const runtime = absoluteOrUndefined(env['XDG_RUNTIME_DIR'])
  if (runtime !== undefined) return join(runtime, 'docmount')
  return uid === 0 ? '/run/docmount' : join(xdgFolder('state', env), 'run')
}

/** The home folder; `$HOME` first, so that tests and services can set it. */
export function homeOf(env: Environment = process.env): string {
  return absoluteOrUndefined(env['HOME']) ?? homedir()
}

function absoluteOrUndefined(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined
}
