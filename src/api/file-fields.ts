// The fields of a File (interface, "File"). A field of the wrong type counts as absent.

import type { RemoteFile } from './types.ts'

export function fileOf(name: string, fields: Readonly<Record<string, unknown>>): RemoteFile {
  const { size, mimetype, modified_at: modifiedAt, url } = fields
  return {
    kind: 'file',
    name,
    size: isSize(size) ? size : undefined,
    mimetype: isText(mimetype) ? mimetype : undefined,
    modifiedAt: isText(modifiedAt) ? modifiedAt : undefined,
    url: isText(url) ? url : undefined,
  }
}

/** True if a field is there and of the wrong type. */
export function isOddFile({ size, mimetype, modified_at, url }: Readonly<Record<string, unknown>>): boolean {
  return isOdd(size, isSize) || isOdd(mimetype, isText) || isOdd(modified_at, isText) || isOdd(url, isText)
}

function isOdd(value: unknown, isFit: (value: unknown) => boolean): boolean {
  return value !== undefined && value !== null && !isFit(value)
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
