// The journal: intentions and everything else that is true only on this machine (folders made here, scratch files, modes
// and times set here), a table each. What is written survives a kill at once, and a power cut once `durable` resolves. How
// it lies on the disk: `journal-database.ts`.

import type { World } from '../../world/world.ts'
import type { Intention } from '../intention.ts'
import { EndedRows } from './ended-rows.ts'
import { JournalDatabase } from './journal-database.ts'
import type { Undo } from './undo.ts'
import {
  attributesOfRow,
  intentionOf,
  isSealed,
  rowOfAttributes,
  rowOfIntention,
  rowOfScratch,
  scratchOf,
  type AttributeRow,
  type ConflictRow,
  type ScratchRow,
} from './journal-rows.ts'

/** So many files that were removed are remembered, in case a power cut brings them back. */
const mostDropped = 5_000

const rowOfPut = (id: number): string => `intention ${id}`

/** The row of a local-only file. */
export const rowOfScratchAt = (path: string): string => `scratch ${path}`

/** True for a row that is an intention: what it names is to be sent, and must not change. */
export function isIntentionRow(row: string): boolean {
  return row.startsWith('intention ')
}

export class Journal {
  readonly #db: JournalDatabase
  /** The spool file that each row names. */
  readonly #named = new Map<string, string>()
  /** What a power cut may bring back. */
  readonly ended: EndedRows = new EndedRows((step) => this.onceDurable(step))
  #lastId: number
  /** False where no local-only file ever had its bytes in the service. */
  #mayRefer: boolean
  /** Told once it is true on disk: the row names this spool file now, or none. */
  onNamed: (row: string, spool: string | undefined) => void = () => {}

  /** Opens or makes the journal in `stateDir`. Throws EBUSY when another daemon has it, ENOTSUP when a newer docmount wrote it. */
  constructor(stateDir: string, world: Pick<World, 'clock' | 'disk'>) {
    this.#db = new JournalDatabase(stateDir, world)
    this.#leaveOutDamagedRows()
    const row = this.#db.get('select max(id) as id from intention') as { id: number | null }
    this.#lastId = row.id ?? 0
    this.#mayRefer = this.scratchFiles().some(({ reference }) => reference !== undefined)
    this.#loadNamed()
  }

  /** What they stood for is found by its content. */
  #leaveOutDamagedRows(): void {
    for (const row of this.#db.all('select * from intention')) {
      if (isSealed(row)) continue
      this.#db.run('delete from intention where id = ?', row['id'])
      this.#db.damage.push('a row of the journal was damaged and is left out')
    }
  }

  /** What was found damaged at the start, and what was done about it, one sentence each. */
  get damage(): readonly string[] {
    return this.#db.damage
  }

  /** Told, in a sentence, of what is found damaged while it is open. */
  set onDamage(tell: (sentence: string) => void) {
    this.#db.onDamage = tell
  }

  /** Writes all of it anew, in a transaction, where what was written is lost. */
  set onLost(refill: () => void) {
    this.#db.onLost = refill
  }

  /** Told of what a step threw that followed a transaction, or undid one. */
  set onStepFailed(tell: (error: unknown) => void) {
    this.#db.onStepFailed = tell
  }

  /** Where its files are not at their paths any more it is made anew of what they hold. Throws where that cannot be. */
  look(): void {
    this.#db.look()
  }

  /** Resolves when everything written so far survives a power cut. */
  durable(): Promise<void> {
    return this.#db.durable()
  }

  /** Runs `step` when everything written so far survives a power cut: with whoever asks for that next, in a second else. */
  onceDurable(step: () => void): void {
    this.#db.onceDurable(step)
  }

  /** All or nothing. */
  transaction<T>(body: () => T): T {
    return this.#db.transaction(body)
  }

  /** Runs `step` when the transaction under way is on disk, never where it is rolled back; at once where there is none. */
  afterCommit(step: () => void): void {
    this.#db.afterCommit(step)
  }

  /** Runs `undo`, the latest first, where the transaction under way is rolled back: memory says what the journal says. */
  onRollback(undo: Undo): void {
    this.#db.onRollback(undo)
  }

  close(): void {
    this.#db.close()
  }

  nextId(): number {
    return ++this.#lastId
  }

  /** The rows that name a spool file, with its id. */
  named(): ReadonlyMap<string, string> {
    return this.#named
  }

  #loadNamed(): void {
    for (const { id, spool } of this.#db.all('select id, spool from intention where spool is not null'))
      this.#named.set(rowOfPut(Number(id)), String(spool))
    for (const { path, spool } of this.#db.all('select path, spool from scratch where spool is not null'))
      this.#named.set(rowOfScratchAt(String(path)), String(spool))
  }

  /** The row names another spool file from now on, or none. Part of the transaction that changes the row. */
  #name(row: string, spool: string | undefined): void {
    const before = this.#named.get(row)
    if (before === spool) return
    if (before !== undefined) this.drop(before)
    this.#setNamed(row, spool)
    this.onRollback(() => this.#setNamed(row, before))
    this.afterCommit(() => this.onNamed(row, spool))
  }

  #setNamed(row: string, spool: string | undefined): void {
    if (spool === undefined) this.#named.delete(row)
    else this.#named.set(row, spool)
  }

  /** Nothing is lost with this spool file, unless a row still names it: should it be found after a crash, it may go. */
  drop(spool: string): void {
    const { lastInsertRowid } = this.#db.run('insert into dropped (spool) values (?)', spool)
    // A removed file that a power cut brings back was removed a moment before it.
    if (Number(lastInsertRowid) % 1000 === 0)
      this.#db.run('delete from dropped where id <= ?', Number(lastInsertRowid) - mostDropped)
  }

  /** It is of use again. */
  keep(spool: string): void {
    this.#db.run('delete from dropped where spool = ?', spool)
  }

  /** Spool files that are of no use any more. */
  dropped(): Set<string> {
    return new Set(this.#db.all('select spool from dropped').map(({ spool }) => String(spool)))
  }

  forgetDropped(): void {
    this.#db.run('delete from dropped')
  }

  /** Every open intention, oldest first. */
  intentions(): Intention[] {
    return this.#db.all('select * from intention order by id').map(intentionOf)
  }

  saveIntention(intention: Intention): void {
    this.transaction(() => {
      this.#db.save('intention', rowOfIntention(intention))
      this.#name(rowOfPut(intention.id), intention.spool)
    })
  }

  removeIntention(id: number): void {
    this.transaction(() => {
      this.#db.run('delete from intention where id = ?', id)
      this.#name(rowOfPut(id), undefined)
    })
  }

  /** Small content, by the id of its spool file: it is as durable as the intention that is journaled with it. */
  contents(): { spool: string; bytes: Uint8Array }[] {
    const rows = this.#db.all('select spool, bytes from content') as unknown as {
      spool: string
      bytes: ArrayBuffer
    }[]
    return rows.map(({ spool, bytes }) => ({ spool, bytes: new Uint8Array(bytes) }))
  }

  content(spool: string): Uint8Array | undefined {
    const row = this.#db.get('select bytes from content where spool = ?', spool) as
      | { bytes: ArrayBuffer }
      | undefined
    return row === undefined ? undefined : new Uint8Array(row.bytes)
  }

  saveContent(spool: string, bytes: Uint8Array): void {
    this.#db.catchUp()
    this.#db.save('content', { spool, bytes })
  }

  removeContent(spool: string): void {
    this.#db.run('delete from content where spool = ?', spool)
  }

  /** As `removeContent`, with what is journaled next: content that no row names is removed at the next start anyway. */
  forgetContent(spool: string): void {
    this.#db.later(() => this.removeContent(spool))
  }

  folders(): string[] {
    return this.#db.all('select path from folder order by path').map((row) => String(row['path']))
  }

  saveFolder(path: string): void {
    this.#db.save('folder', { path })
  }

  removeFolder(path: string): void {
    this.#db.run('delete from folder where path = ?', path)
    // Brought back it would hide what came to its name.
    this.ended.ended([path], undefined)
  }

  scratchFiles(): ScratchRow[] {
    return this.#db.all('select * from scratch order by path').map(scratchOf)
  }

  /** The local-only files whose bytes are said to be in the service, at this path. */
  scratchFilesAt(reference: string): string[] {
    if (!this.#mayRefer) return []
    return this.#db
      .all('select path from scratch where reference = ?', reference)
      .map(({ path }) => String(path))
  }

  saveScratch(row: ScratchRow): void {
    this.#mayRefer ||= row.reference !== undefined
    this.transaction(() => {
      this.#db.save('scratch', rowOfScratch(row))
      this.#name(rowOfScratchAt(row.path), row.spool)
    })
  }

  removeScratch(path: string): void {
    this.transaction(() => {
      this.#db.run('delete from scratch where path = ?', path)
      this.ended.ended([path], this.#named.get(rowOfScratchAt(path)))
      this.#name(rowOfScratchAt(path), undefined)
    })
  }

  attributes(): AttributeRow[] {
    return this.#db.all('select * from attribute').map(attributesOfRow)
  }

  saveAttributes(row: AttributeRow): void {
    this.#db.save('attribute', rowOfAttributes(row))
  }

  removeAttributes(path: string): void {
    this.#db.run('delete from attribute where path = ?', path)
  }

  /** Oldest first. */
  conflicts(): ConflictRow[] {
    return this.#db.all('select * from conflict order by at').map((row) => ({
      path: String(row['path']),
      copy: String(row['copy']),
      at: Number(row['at']),
    }))
  }

  saveConflict({ path, copy, at }: ConflictRow): void {
    this.#db.save('conflict', { copy, path, at })
  }

  removeConflict(copy: string): void {
    this.#db.run('delete from conflict where copy = ?', copy)
  }

  /** What an older docmount counted. */
  counter(name: string): number {
    const row = this.#db.get('select value from counter where name = ?', name) as
      | { value: number }
      | undefined
    return row?.value ?? 0
  }
}
