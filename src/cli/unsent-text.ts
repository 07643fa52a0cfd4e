// Messages about unsent changes.

import type { LocalFile, Unsent } from '../fs/status.ts'
import { formatBytes } from '../amounts.ts'
import { firstTen } from './first-ten.ts'
import { printable } from '../printable.ts'

/** Returns one line: `/a.pdf  replace  retrying  1.2 MiB  (PUT /a.pdf: 500 …; next try 12:30:01)`. */
export function unsentLine(unsent: Unsent): string {
  const { path, action, state, bytes, lastError, nextAttemptAt } = unsent
  const reasons: string[] = []
  if (lastError !== undefined) reasons.push(state === 'unkept' ? refusedHere(lastError) : lastError)
  if (nextAttemptAt !== undefined) reasons.push(`next try ${clock(nextAttemptAt)}`)
  const size = state === 'sending' && bytes > 0 ? [sentOf(unsent)] : bytes > 0 ? [formatBytes(bytes)] : []
  const why = reasons.length > 0 ? [`(${reasons.join('; ')})`] : []
  return printable([path, action, state === 'unkept' ? 'not safe' : state, ...size, ...why].join('  '))
}

/** As `unsentLine`, for a drive that has ended: its changes are not being sent or retried. */
export function leftLine(unsent: Unsent): string {
  const wasUnderWay = unsent.state === 'sending' || unsent.state === 'retrying'
  return unsentLine({ ...unsent, nextAttemptAt: undefined, ...(wasUnderWay ? { state: 'pending' } : {}) })
}

function refusedHere(reason: string): string {
  return `the disk of this machine refuses it: ${reason}`
}

/** Returns advice on documents that the local disk refused; empty if there are none. */
export function adviceOnUnkept(unsent: readonly Unsent[], stateDir: string): string[] {
  if (!unsent.some(({ state }) => state === 'unkept')) return []
  return [
    `what is not safe is lost when the drive ends: make room for ${stateDir} (docmount tries again automatically, docmount retry tries now),`,
    'or copy it out: docmount recover',
  ]
}

/** Returns the progress of an upload: `1.0 MiB of 4.0 MiB (25 %)`. */
export function sentOf({ sentBytes, bytes }: Pick<Unsent, 'sentBytes' | 'bytes'>): string {
  if (bytes === 0) return formatBytes(0)
  const sent = Math.min(sentBytes, bytes)
  return `${formatBytes(sent)} of ${formatBytes(bytes)} (${Math.floor((100 * sent) / bytes)} %)`
}

/** Returns the sum of the changes: `60 not sent (34.0 MiB, 3.1 MiB of it on its way)`. */
export function unsentSum(unsent: readonly Unsent[]): string {
  const bytes = unsent.reduce((sum, change) => sum + change.bytes, 0)
  const sent = unsent.reduce((sum, change) => sum + Math.min(change.sentBytes, change.bytes), 0)
  const onItsWay = sent === 0 ? '' : `, ${formatBytes(sent)} of it on its way`
  return `${unsent.length} not sent (${formatBytes(bytes)}${onItsWay})`
}

/** Message about unsent changes of a drive that ended. */
export function describeLeftUnsent(unsent: readonly Unsent[], stateDir: string | undefined): string {
  const where = stateDir === undefined ? '' : ` in ${stateDir}`
  const withState = (...states: readonly Unsent['state'][]): Unsent[] =>
    unsent.filter(({ state }) => states.includes(state))
  return [
    ...listed(
      unsent.filter(({ state }) => state !== 'unkept' && state !== 'refused'),
      'change',
      `not sent; kept${where} and sent after the next mount:`,
    ),
    ...listed(
      withState('refused'),
      'change',
      `refused; kept${where}, and tried again after the next mount only if you ask for it (docmount retry):`,
    ),
    ...listed(
      withState('unkept'),
      'document',
      'not sent and not safe: the part that the disk took is in lost+found after the next mount:',
    ),
  ].join('\n')
}

/** Message about temporary files that an unmounted drive leaves on this machine. */
export function describeLocalOnly(files: readonly LocalFile[]): string {
  const count = files.length === 1 ? '1 temporary file is' : `${files.length} temporary files are`
  return [
    `${count} on this machine only, and kept for the next mount:`,
    ...firstTen(files.map(localLine)),
  ].join('\n  ')
}

/** Message of `docmount wait` if only temporary files are left, which are never sent. */
export function describeExceptLocalOnly(files: readonly LocalFile[]): string {
  const count = files.length === 1 ? '1 temporary file' : `${files.length} temporary files`
  const head = `everything is sent, except ${count} on this machine only:`
  return [head, ...firstTen(files.map(localLine))].join('\n  ')
}

function localLine({ path, bytes, why }: LocalFile): string {
  return printable(`${path}  ${formatBytes(bytes)}  ${why}`)
}

function listed(unsent: readonly Unsent[], noun: string, words: string): string[] {
  if (unsent.length === 0) return []
  const count = unsent.length === 1 ? `1 ${noun} is` : `${unsent.length} ${noun}s are`
  const lines = firstTen(
    unsent.map((change) => {
      const spool = change.spoolFile === undefined ? '' : `\n    content: ${change.spoolFile}`
      return `${leftLine(change)}${spool}`
    }),
  )
  return [`${count} ${words}`, ...lines.map((line) => `  ${line}`)]
}

function clock(iso: string): string {
  const time = new Date(iso)
  return Number.isNaN(time.getTime()) ? iso : time.toTimeString().slice(0, 8)
}
