// The thread that writes. Changes that wait together share one transaction, so that they share one fsync; each stands
// alone: one that throws is undone without harm to the others.
//
//   inbox ──changes, statements──→ group: begin immediate · each · commit
//                                    └─one throws─→ rollback · the same again, with a savepoint each
//         ──begin … end──────────→ session: nothing else until its end

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

/** Members of one transaction. */
const maxGroup = 64
/** Between two tries for the database while another program has it. */
const pauses: BackoffLimits = { firstMs: 1, longestMs: 50 }

type Member = Extract<WriterRequest, { kind: 'change' | 'statement' }>

/** Another program kept the database. */
class Kept extends ServiceError {}

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
  if (session !== undefined || first.kind === 'begin') await answer(takeOfSession(), runOfSession)
  else if (isMember(first)) port.postMessage(await runGroup(takeGroup()))
  else {
    inbox.shift()
    isOpen = first.kind !== 'close'
    await answer(first, close)
  }
}
port.close()

/** Resolves when there is something to do now. */
async function nextMessages(): Promise<void> {
  for (;;) {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
      inbox.push(...(next.message as readonly WriterRequest[]))
    }
    if (session === undefined ? inbox.length > 0 : inbox.some(isOfSession)) return
    await new Promise<void>((resolve) => (wake = resolve))
  }
}

function isOfSession(request: WriterRequest): boolean {
  return 'session' in request && request.session === session
}

function takeOfSession(): WriterRequest {
  const at = session === undefined ? 0 : inbox.findIndex(isOfSession)
  return inbox.splice(at, 1)[0]!
}

/** Those in front that need no session. */
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
  // Its session ended with the thread that ran it.
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
 * Requests behind it have waited as long, and are refused with it: each on its own would wait that long again, one
 * after the other.
 */
function refuseWaiting(error: unknown): WriterAnswer[] {
  if (!(error instanceof Kept)) return []
  const waits = (request: WriterRequest): boolean => isMember(request) || request.kind === 'begin'
  const refused = inbox.filter(waits)
  inbox.splice(0, inbox.length, ...inbox.filter((request) => !waits(request)))
  return refused.map(({ id }) => ({ id, error: carry(error) }))
}

async function runOfSession(request: WriterRequest): Promise<unknown> {
  if (request.kind === 'begin') {
    makeReserve()
    await begin()
    session = request.session
    return undefined
  }
  if (request.kind === 'statement') {
    if (!reserve.isWhole && needsRoom(request.sql)) throw diskFull()
    return connection.execute(request.sql, request.parameters)
  }
  if (request.kind !== 'end') throw new TypeError(`not in a session: ${request.kind}`)
  session = undefined
  if (!request.isCommit) rollBack()
  // A connection that was thrown away took its transaction with it.
  else if (connection.isInTransaction) commit()
  else throw new Error('the transaction was given up')
  return undefined
}

async function runGroup(members: readonly Member[]): Promise<WriterAnswer[]> {
  makeReserve()
  if (reserve.isWhole) return runTogether(members)
  const answers: WriterAnswer[] = []
  for (const member of members) {
    if (makesRoom(member)) answers.push(...(await runTogether([member])))
    else answers.push({ id: member.id, error: carry(diskFull()) })
  }
  return answers
}

async function runTogether(group: readonly Member[]): Promise<WriterAnswer[]> {
  try {
    return await inTransaction(group)
  } catch (error) {
    if (error instanceof Kept)
      return [...group.map(({ id }) => ({ id, error: carry(error) })), ...refuseWaiting(error)]
    const [first] = group
    if (group.length === 1 && first !== undefined) {
      if (makesRoom(first) && isOfDisk(error)) return [await runWithReserve(first)]
      return [failed(first, error)]
    }
    // One by one: what one of them lacks (room on the disk) another may not need.
    const answers: WriterAnswer[] = []
    for (const member of group) answers.push(...(await runTogether([member])))
    return answers
  }
}

/** Throws what ended the transaction, which left nothing. */
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

function failed({ id }: Member, error: unknown): WriterAnswer {
  return { id, error: carry(isDiskFull(error) ? diskFull(error) : error) }
}

/**
 * The log begins anew in the room it has, once all of it is in the database; what that lacks comes from the reserve, as much as
 * it takes: a piece goes to the database at once, for others take whatever is free.
 */
async function runWithReserve(member: Member): Promise<WriterAnswer> {
  for (;;) {
    unlessOfDatabase(() => connection.control('pragma wal_checkpoint(passive)'))
    try {
      return (await inTransaction([member]))[0]!
    } catch (error) {
      if (!isOfDisk(error) || !reserve.giveUpPiece()) return failed(member, error)
    }
  }
}

/** Outside of transactions. */
function makeReserve(): void {
  if (reserve.isWhole || !reserve.isDue) return
  unlessOfDatabase(() => {
    // Room that is given back may be gone the next moment, and deletions have only the log's own room then.
    if (reserve.fits(connection.unusedBytes)) connection.shrink()
  })
  reserve.make()
}

/** Busy or full: then so be it. */
function unlessOfDatabase(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (codeOf(error) === '') throw error
  }
}

function makesRoom(member: Member): boolean {
  return member.kind === 'statement'
    ? !needsRoom(member.sql)
    : member.name === 'removeTree' || member.name === 'clearDetached' || member.name === 'removeSmall'
}

/** A checkpoint does: the database grows by what was only in its log. */
function needsRoom(sql: string): boolean {
  return isCheckpoint(sql) || !/^\s*(?:delete|pragma|select)\b/i.test(sql)
}

/** Some of SQLite's complaints about its files come from a full disk too. */
function isOfDisk(error: unknown): boolean {
  return isDiskFull(error) || /^SQLITE_(?:IOERR|CANTOPEN)/.test(codeOf(error))
}

/**
 * Mostly nobody throws, and savepoints cost a tenth of all else. Undefined, in a new transaction, where a member threw what
 * is its own affair.
 */
async function runAll(group: readonly Member[]): Promise<WriterAnswer[] | undefined> {
  const answers: WriterAnswer[] = []
  try {
    for (const member of group) answers.push({ id: member.id, result: await runMember(member) })
    return answers
  } catch (error) {
    // Alone it needs no savepoint: what it throws undoes the whole transaction.
    if (group.length === 1 || !connection.isInTransaction || isOfDisk(error)) throw error
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

/** Throws what ends the whole transaction; everything else is the member's own affair. */
async function runAlone(member: Member): Promise<WriterAnswer> {
  connection.execute('savepoint member', [])
  try {
    const result = await runMember(member)
    connection.execute('release member', [])
    return { id: member.id, result }
  } catch (error) {
    if (!connection.isInTransaction || isOfDisk(error)) throw error
    connection.execute('rollback to member', [])
    connection.execute('release member', [])
    return { id: member.id, error: carry(error) }
  }
}

async function runMember(member: Member): Promise<unknown> {
  if (member.kind === 'statement') return connection.execute(member.sql, member.parameters)
  return changes[member.name](store, member.argument as never)
}

/** SQLite runs these outside of transactions only. */
function isOutsideTransactions(member: Member): boolean {
  return member.kind === 'statement' && /^\s*(?:pragma|vacuum)\b/i.test(member.sql)
}

/** Takes the database's write lock, and waits where another program has it. Throws ServiceError 503 without the files, Kept after `waitLimitMs`. */
async function begin(): Promise<void> {
  const gone = inPlace.find((known) => !isInPlace(known))
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
        throw new Kept(503, 'another program is writing to the database: try again', { cause: error })
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
