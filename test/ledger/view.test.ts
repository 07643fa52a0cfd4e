// The view of a folder, over every state of a small scope: one name, whatever its listing says of it, whatever is known of its path and
// whatever is placed there. Times go from 1 to 4, versions are stored at 1, 2 and 3.

import { expect, it } from 'vitest'

import { fingerprintOf } from '../../src/content/fingerprint.ts'
import {
  isBelieved,
  ruleAt,
  shown,
  type Listed,
  type Placed,
  type SyncedPath,
  type Told,
  type View,
} from '../../src/ledger/view.ts'

const times = [1, 2, 3, 4]
const version = (at: number): Told => ({
  kind: 'file',
  name: 'n',
  size: 7,
  modifiedAt: `2026-01-01T00:00:0${at}Z`,
  mimetype: undefined,
  url: undefined,
})
const fingerprint = (at: number): string => `7@2026-01-01T00:00:0${at}Z`
const records: readonly (Told | undefined)[] = [
  undefined,
  { kind: 'folder', name: 'n' },
  ...[1, 2, 3].map(version),
]
const listings: readonly (Listed | undefined)[] = [
  undefined,
  ...times.flatMap((requestedAt) =>
    records.map((record) => ({ requestedAt, names: new Map(record && [['n', record]]) })),
  ),
]
const known: readonly (SyncedPath | undefined)[] = [
  undefined,
  ...[undefined, ...times].flatMap((agreedAt) =>
    (agreedAt === undefined ? [Infinity] : times.filter((until) => until >= agreedAt)).flatMap((until) =>
      [undefined, 1, 2, 3].map((at) => ({
        agreedAt,
        until,
        highest: at === undefined ? undefined : fingerprint(at),
      })),
    ),
  ),
]
const places: readonly (Placed<'here'> | undefined)[] = [
  undefined,
  { shows: 'here', isAtOwnPath: true },
  { shows: 'here', isAtOwnPath: false },
]

interface State {
  readonly listing: Listed | undefined
  readonly synced: SyncedPath | undefined
  readonly placed: Placed<'here'> | undefined
}

const states: readonly State[] = listings.flatMap((listing) =>
  known.flatMap((synced) => places.map((placed) => ({ listing, synced, placed }))),
)

const viewOf = ({ listing, synced, placed }: State): View<'here'> => ({
  listing,
  placed: new Map(placed && [['n', placed]]),
  synced: () => synced,
})

const at = (state: State): 'here' | Told | undefined => shown(viewOf(state)).get('n')

const recordIn = ({ listing }: State): Told | undefined => listing?.names.get('n')

it('21 listings, 45 paths and 3 places make 2,835 states, in each of which the rules hold', () => {
  expect([listings.length, known.length, places.length, states.length]).toEqual([21, 45, 3, 2_835])
  for (const state of states) {
    const { listing, synced, placed } = state
    const what = at(state)
    const said = JSON.stringify({
      ...state,
      listing: listing && [listing.requestedAt, recordIn(state)],
      what,
    })
    const rule = ruleAt(viewOf(state), 'n')
    // The rule names what shows.
    if (rule === 'listed') expect(what, said).toBe(recordIn(state))
    else expect(what, said).toBe(placed?.shows)
    expect(rule === 'open', said).toBe(
      placed?.isAtOwnPath !== false &&
        listing !== undefined &&
        synced !== undefined &&
        synced.agreedAt === undefined,
    )
    // A change that is only here shows, whatever else there is.
    if (placed?.isAtOwnPath === false) expect(what, said).toBe('here')
    // Names show that are placed, or that the listing has, and no others.
    if (placed === undefined && what !== undefined) expect(what, said).toBe(recordIn(state))
    // Until the service has agreed no listing says anything.
    if (synced !== undefined && synced.agreedAt === undefined) expect(what, said).toBe(placed?.shows)
    // A listing asked for before is never believed.
    const { agreedAt = Infinity, until = Infinity } = synced ?? {}
    if (synced !== undefined && (listing?.requestedAt ?? 0) < agreedAt) expect(what, said).toBe(placed?.shows)
    // One that has had the time to catch up always is.
    if (
      placed?.isAtOwnPath !== false &&
      listing !== undefined &&
      (synced === undefined || listing.requestedAt >= until)
    )
      expect(what, said).toBe(recordIn(state))
  }
})

it('what a listing that may lag says is believed where it shows what came after what is known, and nowhere else', () => {
  let early = 0
  for (const { listing, synced } of states.filter(({ placed }) => placed === undefined)) {
    if (listing === undefined || synced?.agreedAt === undefined) continue
    const { requestedAt } = listing
    if (requestedAt >= synced.until) continue
    const record = listing.names.get('n')
    const { highest } = synced
    // ISO times of one length sort as they pass.
    const isNewer = record?.kind === 'file' && highest !== undefined && fingerprintOf(record) > highest
    expect(isBelieved(requestedAt, record, synced)).toBe(isNewer && requestedAt > synced.agreedAt)
    if (isNewer) early++
  }
  expect(early).toBeGreaterThan(0)
})

it('a listing that is believed stays so: one asked for later that says the same is believed, too', () => {
  for (const synced of known)
    for (const record of records)
      for (const earlier of times.filter((time) => isBelieved(time, record, synced)))
        for (const later of times.filter((time) => time >= earlier))
          expect(isBelieved(later, record, synced), JSON.stringify([synced, record, earlier, later])).toBe(
            true,
          )
})

it('knowing more of a path, or later, never makes a listing be believed that was not', () => {
  for (const synced of known) {
    if (synced?.agreedAt === undefined) continue
    const { agreedAt, until } = synced
    for (const record of records)
      for (const time of times) {
        if (isBelieved(time, record, synced)) continue
        expect(isBelieved(time, record, { ...synced, until: until + 1 })).toBe(false)
        expect(isBelieved(time, record, { ...synced, agreedAt: agreedAt + 1, until: until + 1 })).toBe(false)
        expect(isBelieved(time, record, { ...synced, agreedAt: undefined })).toBe(false)
      }
  }
})
