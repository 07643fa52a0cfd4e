// Lock files as documents of the service: `.~lock.a.xlsx#` is `.~lock.a.xlsx#.until-2026-11-28T00Z.txt`, a text that counts until
// the time in its name. Days have two halves. A holder has the documents of this half and of the next, made in this order: that a
// name is taken (409) is the lock. To renew is to make the next one, and no machine has to take away what was not renewed.

import { nameMaxBytes } from '../../path.ts'
import { isLockName } from '../tree/scratch.ts'

const halfDayMs = 12 * 3_600_000
const documentName = /^(.+)\.until-(\d{4}-\d\d-\d\dT(?:00|12))Z\.txt$/

/** Marks content that is no text, or would be taken for such content. */
const base64Mark = 'base64:'

/** A lock's document in the service. */
export interface LockDocument {
  /** Name of the lock file that it stands for. */
  readonly lock: string
  /** Epoch ms: when it is over. */
  readonly until: number
}

/** Returns the ends of the present half day and of the next (epoch ms). */
export function timesAt(now: number): readonly [until: number, next: number] {
  const until = (Math.floor(now / halfDayMs) + 1) * halfDayMs
  return [until, until + halfDayMs]
}

/** Returns the name, or the path, of the document that stands for a lock file until that time (epoch ms). */
export function documentOf(lock: string, until: number): string {
  return `${lock}.until-${new Date(until).toISOString().slice(0, 13)}Z.txt`
}

/** Reads the name of a lock's document; undefined for any other name. */
export function lockOf(name: string): LockDocument | undefined {
  const [, lock = '', time = ''] = documentName.exec(name) ?? []
  const until = Date.parse(`${time}:00Z`)
  return isLockName(lock) && !Number.isNaN(until) ? { lock, until } : undefined
}

/** True for a lock file's name that leaves room for that of its document. */
export function isShareable(name: string): boolean {
  return isLockName(name) && Buffer.byteLength(documentOf(name, 0)) <= nameMaxBytes
}

/** Returns a lock file's content as text. Office's is binary. */
export function textOf(content: Uint8Array): string {
  const bytes = Buffer.from(content)
  const text = bytes.toString()
  const isPlain = !text.includes('\0') && !text.startsWith(base64Mark) && Buffer.from(text).equals(bytes)
  return isPlain && text !== '' ? text : base64Mark + bytes.toString('base64')
}

/** Returns the content of a lock file whose text this is. */
export function contentOf(text: string): Buffer {
  return text.startsWith(base64Mark)
    ? Buffer.from(text.slice(base64Mark.length), 'base64')
    : Buffer.from(text)
}

/** Returns the text of a lock whose program has not written it yet, in the form of LibreOffice's: name, account, host, time, id. */
export function unwrittenText(host: string, now: number, id: string): string {
  const [, year, month, day, time] = /^(\d+)-(\d+)-(\d+)T(\d+:\d+)/.exec(new Date(now).toISOString()) ?? []
  const plain = host.replaceAll(/[\\,;\n]/g, ' ')
  return `,${plain},${plain},${day}.${month}.${year} ${time},docmount:${id};`
}
