// Other side of a door, and what a test may ask of it. Behind docmount's doors is the service; behind the oracle
// there is nothing, so that every question about it is answered with yes.

import { expect } from 'vitest'

import { treeOf, type Door } from './door.ts'
import type { OwnCall } from './other-client.ts'
import type { TestService } from './service.ts'
import { waitUntil } from './wait-until.ts'

/** How many calls of a kind docmount has made; absent = any number. */
export interface CallPromise {
  readonly GET?: number
  /** Upper limit of GET, where a listing may have been fetched ahead. */
  readonly getAtMost?: number
  readonly PUT?: number
  readonly DELETE?: number
  /** Requests to presigned URLs. */
  readonly download?: number
  /** Upper limit of GET, PUT and DELETE together. */
  readonly apiAtMost?: number
}

/** Documents by their name inside a folder (`inner/a.txt`). */
export type Documents = Readonly<Record<string, string | Uint8Array>>

export interface Behind {
  clearCalls(): void
  /** Waits until nothing is unsent. A document that ends as it began looks whole in the service before it is sent. */
  waitUntilSent(): Promise<void>
  /** Waits until the service holds exactly these documents in the folder. */
  waitFor(folder: string, documents: Documents): Promise<void>
  /** Waits until the service holds exactly what the door shows in the folder, but for names that stay on this machine. */
  check(folder: string, staysHere: ReadonlySet<string>): Promise<void>
  /** Throws unless docmount kept its promise about calls for a folder or document since `clearCalls`. */
  expectCalls(path: string, promise: CallPromise): void
  /** Throws when docmount has uploaded anything in the folder but these documents since `clearCalls`. */
  expectUploads(folder: string, names: readonly string[]): void
}

/** Behind the oracle. */
export const nothing: Behind = {
  clearCalls() {},
  waitUntilSent: async () => {},
  waitFor: async () => {},
  check: async () => {},
  expectCalls() {},
  expectUploads() {},
}

/** Behind docmount; `isSent`: nothing of the door is unsent, where it tells. */
export function serviceBehind(
  testService: TestService,
  door: () => Door,
  isSent: () => Promise<boolean> = async () => true,
): Behind {
  async function waitFor(folder: string, wanted: ReadonlyMap<string, Uint8Array>): Promise<void> {
    let held = new Map<string, Buffer>()
    try {
      await waitUntil(`the service to hold what the door shows in ${folder}`, async () => {
        const found = await testService.other.documents(folder)
        // Undefined when something went away while it was looked at.
        if (found === undefined) return false
        held = found
        return (
          held.size === wanted.size &&
          [...wanted].every(([name, bytes]) => held.get(name)?.equals(bytes) === true)
        )
      })
    } catch (error) {
      // Says which documents differ.
      expect(described(held), (error as Error).message).toEqual(described(wanted))
      throw error
    }
  }

  function count(path: string): Required<Omit<CallPromise, 'apiAtMost' | 'getAtMost'>> {
    const counts = { GET: 0, PUT: 0, DELETE: 0, download: 0 }
    const add = (call: Pick<OwnCall, 'method' | 'path'> & { endpoint: string }, sign: 1 | -1): void => {
      if (call.path !== path && !call.path.startsWith(`${path}/`)) return
      if (call.endpoint === 'download') counts.download += sign
      else if (call.method === 'GET' || call.method === 'PUT' || call.method === 'DELETE')
        counts[call.method] += sign
    }
    for (const call of testService.service.calls) add(call, 1)
    for (const call of testService.other.calls) add(call, -1)
    return counts
  }

  return {
    clearCalls() {
      testService.service.clearCalls()
      testService.other.clearCalls()
    },
    async waitUntilSent() {
      await waitUntil('everything to be sent', isSent)
    },
    async waitFor(folder, documents) {
      const wanted = new Map<string, Uint8Array>()
      for (const [name, content] of Object.entries(documents)) {
        wanted.set(name, Buffer.from(content as Uint8Array))
      }
      await waitFor(folder, wanted)
    },
    async check(folder, staysHere) {
      const shown = await treeOf(door(), folder)
      const wanted = new Map<string, Uint8Array>()
      for (const [name, content] of shown) {
        if (content !== undefined && !staysHere.has(name)) wanted.set(name, content)
      }
      await waitFor(folder, wanted)
    },
    expectCalls(path, { apiAtMost, getAtMost, ...promised }) {
      const { GET, PUT, DELETE, download } = count(path)
      const made = `calls for ${path}`
      expect({ GET, PUT, DELETE, download }, made).toMatchObject(promised)
      if (getAtMost !== undefined) expect(GET, made).toBeLessThanOrEqual(getAtMost)
      if (apiAtMost !== undefined) expect(GET + PUT + DELETE, made).toBeLessThanOrEqual(apiAtMost)
    },
    expectUploads(folder, names) {
      const uploaded = new Set<string>()
      for (const { endpoint, method, path } of testService.service.calls) {
        if (endpoint === 'files' && method === 'PUT' && path.startsWith(`${folder}/`)) {
          uploaded.add(path.slice(folder.length + 1))
        }
      }
      expect([...uploaded].filter((name) => !names.includes(name))).toEqual([])
    },
  }
}

/** Sizes and beginnings: enough to see what differs, short enough to read. */
function described(documents: ReadonlyMap<string, Uint8Array>): Record<string, string> {
  return Object.fromEntries(
    [...documents]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, bytes]) => [
        name,
        `${bytes.length} bytes: ${Buffer.from(bytes).subarray(0, 60).toString('latin1')}`,
      ]),
  )
}
