// Reasons and changes in plain words, without HTTP calls, statuses and error codes.

import type { Unsent } from '../fs/status.ts'

const codes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'no machine has its name',
  EAI_AGAIN: 'its name cannot be looked up now',
  ENETUNREACH: 'there is no way to it',
  EHOSTUNREACH: 'there is no way to it',
  ETIMEDOUT: 'no answer came in time',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  EROFS: 'the disk is read-only',
  EIO: 'the disk has a fault',
  ENOENT: 'it is not there',
  EACCES: 'it is not allowed',
  EPERM: 'it is not allowed',
}

/** Returns `no connection: nothing answers there` for `GET /: no connection: connect ECONNREFUSED 127.0.0.1:80`. */
export function plainReason(reason: string): string {
  // In turn: calls (`GET /a.pdf: 404 `), statuses (`(404 `), errnos (`connect E… HOST:PORT`).
  return reason
    .replaceAll(/(^|: |=)(?:GET|HEAD|PUT|POST|DELETE) .*?: (?:\d{3} )?/gs, '$1')
    .replaceAll(/\(\d{3} /g, '(')
    .replaceAll(
      /(?:\b(?:connect|read|write|getaddrinfo|open|fsync) )?\b(E[A-Z_]{3,})\b(?:: [a-z ]+, [a-z]+)?(?: [\d.[\]a-f:]+:\d+| \S+$)?/g,
      (_, code: string) => codes[code] ?? 'an error of the system',
    )
}

/** Actions of changes that are on their way. */
export const changeWords: Readonly<Record<Unsent['action'], string>> = {
  upload: 'new',
  replace: 'changed',
  rename: 'renamed',
  delete: 'deleted',
}

/** Actions of changes that were refused. */
export const refusedWords: Readonly<Record<Unsent['action'], string>> = {
  upload: 'not stored',
  replace: 'the new version was not stored',
  rename: 'not renamed',
  delete: 'not deleted',
}
