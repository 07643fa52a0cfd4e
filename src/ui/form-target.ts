// The drive and the path that a form is about.

import { type FoundMount } from '../daemon/find-mount.ts'
import { findById } from './page-data.ts'
import { Refused } from './refused.ts'

export interface FormTarget {
  readonly found: FoundMount
  readonly socketPath: string
  /** Absolute path in the project. */
  readonly path: string
}

/** Resolves with the drive and the path that a form names. Throws Refused: 400 for a bad path, 409 if the drive is not live. */
export async function targetOf(form: URLSearchParams): Promise<FormTarget> {
  const path = checked(form.get('path') ?? '')
  const found = await findById(form.get('drive') ?? '')
  if (found?.record === undefined || !found.isDaemonAlive)
    throw new Refused(409, 'this drive is not there any more')
  return { found, socketPath: found.record.socketPath, path }
}

/** Returns the path in the project for typed text, with or without the mountpoint and slashes around it. Throws Refused (400). */
export function pathIn({ mountpoint }: FoundMount, typed: string): string {
  const trimmed = typed.trim()
  const inside =
    trimmed === mountpoint || trimmed.startsWith(`${mountpoint}/`)
      ? trimmed.slice(mountpoint.length)
      : trimmed
  return checked(`/${inside.replaceAll(/^\/+|\/+$/g, '')}`)
}

function checked(path: string): string {
  const isPath = path.startsWith('/') && !path.split('/').some((name) => name === '..' || name === '.')
  if (!isPath || path.includes('\0')) throw new Refused(400, 'the form names no path')
  return path
}
