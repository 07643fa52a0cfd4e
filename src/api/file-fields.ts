// The fields of a File as far as they are what the interface says; each other one is as if it were absent.

import type { RemoteFile } from './types.ts'

type Told = Omit<RemoteFile, 'kind' | 'name'>

/** `isRepaired` tells that some field was of the wrong kind. */
export function fileFields(fields: Readonly<Record<string, unknown>>): { file: Told; isRepaired: boolean } {
  let isRepaired = false
  const told = <T>(name: string, isFit: (value: unknown) => value is T): T | undefined => {
    const value = fields[name]
    if (value === undefined || value === null) return undefined
    if (isFit(value)) return value
    isRepaired = true
    return undefined
  }
  const file = {
    size: told('size', isSize),
    mimetype: told('mimetype', isText),
    modifiedAt: told('modified_at', isText),
    url: told('url', isText),
  }
  return { file, isRepaired }
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
