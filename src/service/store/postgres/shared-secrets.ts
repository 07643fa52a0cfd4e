// The secrets of presigned links, shared by all processes of the service. A new one is made every 30 days; it signs from the
// time by which every process has read it. An old one is deleted when all links signed with it have expired.

import { randomBytes } from 'node:crypto'
import type { LinkSecrets } from '../../downloads/signer.ts'
import type { Store } from '../database.ts'
import { type LinkSecretsTable, sharedStore } from './database.ts'

const secretBytes = 32
/** Age at which the latest secret is replaced. */
const rotationMs: number = 30 * 86_400_000
/** Time before a new secret signs: each process reads the secrets every minute. */
const noticeMs = 5 * 60_000
/** Longer than the lifetime of any link. */
const linkLifeMs = 24 * 3_600_000

export class SharedSecrets implements LinkSecrets {
  readonly #store: Store
  readonly #now: () => number
  #rows: readonly LinkSecretsTable[] = []

  constructor(store: Store, now: () => number) {
    this.#store = store
    this.#now = now
  }

  get current(): Buffer {
    const now = this.#now()
    return (this.#rows.findLast(({ since }) => since <= now) ?? this.#rows[0]!).secret
  }

  get known(): readonly Buffer[] {
    return this.#rows.map(({ secret }) => secret)
  }

  /** Reads the secrets; makes a new one and deletes old ones where that is due. */
  async refresh(): Promise<void> {
    const now = this.#now()
    const last = (await this.#read()).at(-1)
    if (last === undefined) await this.#make(1, 0)
    else if (last.since < now - rotationMs) await this.#make(last.number + 1, now + noticeMs)
    const rows = await this.#read()
    const gone = rows.filter((_, at) => (rows[at + 1]?.since ?? Infinity) < now - linkLifeMs)
    if (gone.length > 0) {
      const numbers = gone.map(({ number }) => number)
      await sharedStore(this.#store).deleteFrom('link_secrets').where('number', 'in', numbers).execute()
    }
    this.#rows = rows.filter((row) => !gone.includes(row))
  }

  #read(): Promise<LinkSecretsTable[]> {
    return sharedStore(this.#store).selectFrom('link_secrets').selectAll().orderBy('number').execute()
  }

  /** If two processes make the same number, the first one wins. */
  async #make(number: number, since: number): Promise<void> {
    await sharedStore(this.#store)
      .insertInto('link_secrets')
      .values({ number, secret: randomBytes(secretBytes), since: since === 0 ? this.#now() : since })
      .onConflict((conflict) => conflict.column('number').doNothing())
      .execute()
  }
}
