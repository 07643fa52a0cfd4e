// The fields of a File as far as they are what the interface says; each other one is as if it were absent.

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

/** Some field is there, and of the wrong kind. */
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
