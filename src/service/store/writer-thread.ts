// The writer thread. Waiting changes are grouped into one transaction, so that they share one fsync; a change that throws is
// undone alone, without the others.
//
//   inbox ──changes, statements──→ group: begin immediate · each · commit
//                                    └─one throws─→ rollback · the same again, with a savepoint each
//         ──begin … end──────────→ session: no other request until its end

import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { doubledMs, type BackoffLimits } from '../../backoff.ts'
import { diskFull, isDiskFull } from '../disk-full.ts'
import { ServiceError } from '../service-error.ts'
import { carry } from './carried-error.ts'
import { changes } from './changes.ts'
import { Connection, codeOf, isBusy, isCheckpoint } from './connection.ts'
import { kyselyOver } from './dialect-local.ts'
import { isInPlace } from '../../known-file.ts'
import { creationPragmas, writerPragmas } from './pragmas.ts'
import { Reserve } from './reserve.ts'
import type { WriterAnswer, WriterData, WriterRequest } from './writer-protocol.ts'

/** Most members of one transaction. */
const maxGroup = 64
/** Pauses between attempts to get the lock of the database while another program has it. */
const pauses: BackoffLimits = { firstMs: 1, longestMs: 50 }

type Member = Extract<WriterRequest, { kind: 'change' | 'statement' }>

/** Another program held the lock of the database for too long. */
class LockedOutError extends ServiceError {}

const port = parentPort!
const { file, reserveFile, waitLimitMs, inPlace } = workerData as WriterData
const connection = new Connection(file, { creationPragmas, pragmas: writerPragmas })
const store = kyselyOver(connection)
const reserve = new Reserve(reserveFile)
const inbox: WriterRequest[] = []
let session: number | undefined
let wake: (() => void) | undefined

port.on('message', (requests: readonly WriterRequest[]) => {
  inbox.push(...requests)
  wake?.()
})

for (let isOpen = true; isOpen;) {
  await nextMessages()
  const first = inbox[0]!
  if (session !== undefined || first.kind === 'begin') await answer(takeSessionRequest(), runSessionRequest)
  else if (isMember(first)) port.postMessage(await runGroup(takeGroup()))
  else {
    inbox.shift()
    isOpen = first.kind !== 'close'
    await answer(first, close)
  }
}
port.close()

/** Resolves when a request can run now: with an open session only one of that session can. */
async function nextMessages(): Promise<void> {
  for (;;) {
    // Messages that have arrived by now share one transaction.
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      inbox.push(...(next.message as readonly WriterRequest[]))
    }
    if (session === undefined ? inbox.length > 0 : inbox.some(isOfOpenSession)) return
    await new Promise<void>((resolve) => (wake = resolve))
  }
}

function isOfOpenSession(request: WriterRequest): boolean {
  return 'session' in request && request.session === session
}

function takeSessionRequest(): WriterRequest {
  const at = session === undefined ? 0 : inbox.findIndex(isOfOpenSession)
  return inbox.splice(at, 1)[0]!
}

/** Takes the first requests of the inbox that need no session. */
function takeGroup(): Member[] {
  const group: Member[] = []
  while (group.length < maxGroup && inbox[0] !== undefined && isMember(inbox[0])) {
    group.push(inbox.shift() as Member)
  }
  return group
}

function isMember(request: WriterRequest): request is Member {
  return request.kind === 'change' || (request.kind === 'statement' && request.session === undefined)
}

async function close(request: WriterRequest): Promise<void> {
  // A request of a session whose transaction ended with an earlier thread.
  if (request.kind !== 'close') throw new Error('the transaction was given up')
  connection.close()
}

async function answer(
  request: WriterRequest,
  run: (request: WriterRequest) => Promise<unknown>,
): Promise<void> {
  try {
    port.postMessage([{ id: request.id, result: await run(request) }])
  } catch (error) {
    port.postMessage([{ id: request.id, error: carry(error) }, ...refuseWaiting(error)])
  }
}

/**
 * After a LockedOutError all waiting requests are refused, too: they have waited as long, and one after the other each would
 * wait that long again.
 */
function refuseWaiting(error: unknown): WriterAnswer[] {
  if (!(error instanceof LockedOutError)) return []
  const waits = (request: WriterRequest): boolean => isMember(request) || request.kind === 'begin'
  const refused = inbox.filter(waits)
  inbox.splice(0, inbox.length, ...inbox.filter((request) => !waits(request)))
  return refused.map(({ id }) => ({ id, error: carry(error) }))
}

async function runSessionRequest(request: WriterRequest): Promise<unknown> {
  if (request.kind === 'begin') {
    makeReserve()
    await begin()
    session = request.session
    return undefined
  }
  if (request.kind === 'statement') {
    if (!reserve.isWhole && needsSpace(request.sql)) throw diskFull()
    return connection.execute(request.sql, request.parameters)
  }
  if (request.kind !== 'end') throw new TypeError(`not in a session: ${request.kind}`)
  session = undefined
  if (!request.isCommit) rollBack()
  // A connection that was closed after an error lost its transaction.
  else if (connection.isInTransaction) commit()
  else throw new Error('the transaction was given up')
  return undefined
}

async function runGroup(members: readonly Member[]): Promise<WriterAnswer[]> {
  makeReserve()
  if (reserve.isWhole) return runTogether(members)
  const answers: WriterAnswer[] = []
  for (const member of members) {
    if (freesSpace(member)) answers.push(...(await runTogether([member])))
    else answers.push({ id: member.id, error: carry(diskFull()) })
  }
  return answers
}

async function runTogether(group: readonly Member[]): Promise<WriterAnswer[]> {
  try {
    return await inTransaction(group)
  } catch (error) {
    if (error instanceof LockedOutError)
      return [...group.map(({ id }) => ({ id, error: carry(error) })), ...refuseWaiting(error)]
    const [first] = group
    if (group.length === 1 && first !== undefined) {
      if (freesSpace(first) && isDiskError(error)) return [await runWithReserve(first)]
      return [failureOf(first, error)]
    }
    // One by one: a member that needs disk space must not fail one that needs none.
    const answers: WriterAnswer[] = []
    for (const member of group) answers.push(...(await runTogether([member])))
    return answers
  }
}

/** Runs the group in one transaction. Throws the error that ended it; it is rolled back then. */
async function inTransaction(group: readonly Member[]): Promise<WriterAnswer[]> {
  try {
    if (group.length === 1 && isOutsideTransactions(group[0]!)) {
      return [{ id: group[0]!.id, result: await runMember(group[0]!) }]
    }
    await begin()
    const answers = (await runAll(group)) ?? (await runEachAlone(group))
    commit()
    return answers
  } catch (error) {
    rollBack()
    throw error
  }
}

function failureOf({ id }: Member, error: unknown): WriterAnswer {
  return { id, error: carry(isDiskFull(error) ? diskFull(error) : error) }
}

/**
 * Runs a deletion on a full disk. A checkpoint makes the whole log reusable; if it lacks space, the reserve gives up one piece
 * after the other, and each is used at once, because other programs take whatever is free.
 */
async function runWithReserve(member: Member): Promise<WriterAnswer> {
  for (;;) {
    ignoringDatabaseErrors(() => connection.control('pragma wal_checkpoint(passive)'))
    try {
      return (await inTransaction([member]))[0]!
    } catch (error) {
      if (!isDiskError(error) || !reserve.giveUpPiece()) return failureOf(member, error)
    }
  }
}

/** Fills the reserve up, if that is due. Only outside of transactions. */
function makeReserve(): void {
  if (reserve.isWhole || !reserve.isDue) return
  ignoringDatabaseErrors(() => {
    // Only if the reserve fits then: another program may take the freed space, and deletions need that of the log.
    if (reserve.fits(connection.unusedBytes)) connection.shrink()
  })
  reserve.make()
}

/** Runs `work`, and ignores errors of SQLite: the database may be locked, or the disk full. */
function ignoringDatabaseErrors(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (codeOf(error) === '') throw error
  }
}

function freesSpace(member: Member): boolean {
  return member.kind === 'statement'
    ? !needsSpace(member.sql)
    : member.name === 'removeTree' || member.name === 'clearDetached' || member.name === 'removeSmall'
}

/** True also for a checkpoint: the database grows by the pages that were only in its log. */
function needsSpace(sql: string): boolean {
  return isCheckpoint(sql) || !/^\s*(?:delete|pragma|select)\b/i.test(sql)
}

/** True for a full disk, and for SQLite's errors of its files that a full disk may cause. */
function isDiskError(error: unknown): boolean {
  return isDiskFull(error) || /^SQLITE_(?:IOERR|CANTOPEN)/.test(codeOf(error))
}

/**
 * Runs all members without savepoints, which would add a tenth to the cost: errors are rare. If a member throws an error of its
 * own, returns undefined in a new transaction, in which `runEachAlone` repeats the group.
 */
async function runAll(group: readonly Member[]): Promise<WriterAnswer[] | undefined> {
  const answers: WriterAnswer[] = []
  try {
    for (const member of group) answers.push({ id: member.id, result: await runMember(member) })
    return answers
  } catch (error) {
    // A single member needs no savepoint: its error rolls the whole transaction back.
    if (group.length === 1 || !connection.isInTransaction || isDiskError(error)) throw error
    connection.control('rollback')
    await begin()
    return undefined
  }
}

async function runEachAlone(group: readonly Member[]): Promise<WriterAnswer[]> {
  const answers: WriterAnswer[] = []
  for (const member of group) answers.push(await runAlone(member))
  return answers
}

/** Runs a member in a savepoint, so that its error undoes only itself. Throws an error that ends the whole transaction. */
async function runAlone(member: Member): Promise<WriterAnswer> {
  connection.execute('savepoint member', [])
  try {
    const result = await runMember(member)
    connection.execute('release member', [])
    return { id: member.id, result }
  } catch (error) {
    if (!connection.isInTransaction || isDiskError(error)) throw error
    connection.execute('rollback to member', [])
    connection.execute('release member', [])
    return { id: member.id, error: carry(error) }
  }
}

async function runMember(member: Member): Promise<unknown> {
  if (member.kind === 'statement') return connection.execute(member.sql, member.parameters)
  return changes[member.name](store, member.argument as never)
}

/** True for statements that SQLite runs only outside of transactions. */
function isOutsideTransactions(member: Member): boolean {
  return member.kind === 'statement' && /^\s*(?:pragma|vacuum)\b/i.test(member.sql)
}

/** Waits for the write lock, and begins. Throws ServiceError 503 if a file is gone, LockedOutError after `waitLimitMs`. */
async function begin(): Promise<void> {
  const gone = inPlace.find((each) => !isInPlace(each))
  if (gone !== undefined)
    throw new ServiceError(503, `${basename(gone.path)} is not where it was: nothing is kept until it is`)
  const start = performance.now()
  for (let attempts = 1; ; attempts++) {
    try {
      connection.control('begin immediate')
      return
    } catch (error) {
      if (!isBusy(error)) {
        connection.close()
        throw error
      }
      if (performance.now() - start > waitLimitMs) {
        throw new LockedOutError(503, 'another program is writing to the database: try again', {
          cause: error,
        })
      }
    }
    await sleep(doubledMs(attempts, pauses))
  }
}

function commit(): void {
  try {
    connection.control('commit')
  } catch (error) {
    connection.close()
    throw error
  }
}

function rollBack(): void {
  if (!connection.isInTransaction) return
  try {
    connection.control('rollback')
  } catch (error) {
    if (codeOf(error) === '') throw error
    connection.close()
  }
}
