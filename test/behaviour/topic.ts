// How a behaviour is written down once and run at every door: a topic registers titled cases, each with the files that
// are there beforehand, and every case gets a folder of its own.

import { afterAll, beforeAll, describe, it } from 'vitest'

import { differences } from '../support/doors.ts'
import type { Door, DoorName } from '../support/door.ts'

/** Contents by name inside the case's folder; names may contain `/`. */
export type Given = Readonly<Record<string, string | Uint8Array>>

export interface Case<D extends Door = Door> {
  readonly door: D
  /** The case's own folder: `/truncate-3`. */
  readonly folder: string
  /** A path inside it. */
  readonly at: (name: string) => string
  /** Says of a name in the folder that it never leaves this machine. */
  readonly staysHere: (name: string) => void
}

export interface Register<D extends Door = Door> {
  (title: string, body: Body<D>): void
  /** Files that somebody else put there before the door was opened. */
  (title: string, given: Given, body: Body<D>): void
  /** Says why a case is not run on this machine. */
  skip(title: string): void
}

export type Topic<D extends Door = Door> = (it: Register<D>) => void

/** A door that was opened for a test file. */
export interface OpenedDoor<D extends Door = Door> {
  readonly door: D
  /** Called when a case failed: says what the drive has to say of it. */
  explain(): string
  close(): Promise<void>
}

/** Opens the door over the given files (`/folder/name` → content). */
export type OpenDoor<D extends Door = Door> = (
  given: ReadonlyMap<string, Uint8Array>,
) => Promise<OpenedDoor<D>>

/** Runs topics at one door; what does not hold there is skipped with the reason from the table of differences. */
export function behave<D extends Door>(name: DoorName, open: OpenDoor<D>, topics: Topics<D>): void {
  const at = openedOnce(open)
  for (const [topic, register] of Object.entries(topics)) {
    describe(topic, () => describeTopic(name, topic, register, at))
  }
}

/** The same for topics that mostly wait: each has a door of its own, and they run beside each other. */
export function behaveSideBySide<D extends Door>(name: DoorName, open: OpenDoor<D>, topics: Topics<D>): void {
  for (const [topic, register] of Object.entries(topics)) {
    describe.concurrent(topic, () => describeTopic(name, topic, register, openedOnce(open)))
  }
}

export type Topics<D extends Door = Door> = Readonly<Record<string, Topic<D>>>

/** A door that is opened before the cases of the suite it is called in, and what they need beforehand. */
interface DoorToBe<D extends Door> {
  readonly given: Map<string, Uint8Array>
  opened(): OpenedDoor<D>
}

function openedOnce<D extends Door>(open: OpenDoor<D>): DoorToBe<D> {
  const given = new Map<string, Uint8Array>()
  let opened: OpenedDoor<D> | undefined
  beforeAll(async () => {
    opened = await open(given)
  })
  afterAll(() => opened?.close())
  return {
    given,
    opened() {
      if (opened === undefined) throw new Error('the door did not open')
      return opened
    },
  }
}

function describeTopic<D extends Door>(
  name: DoorName,
  topic: string,
  register: Topic<D>,
  doorToBe: DoorToBe<D>,
): void {
  let count = 999
  const registerCase = (title: string, files: Given | Body<D>, body?: Body<D>): void => {
    const [before, run] = typeof files === 'function' ? [{}, files] : [files, body]
    if (run === undefined) throw new Error(`${topic}: ${title} has no body`)
    const reason = differences[name][`${topic}: ${title}`]
    if (reason !== undefined) {
      it.skip(`${title} (not here: ${reason})`)
      return
    }
    // Counted down: a walk through folders in their order would be fetched ahead, before the case has begun.
    const folder = `/${topic.replaceAll(' ', '-')}-${count--}`
    const givenFiles = Object.entries(before)
    for (const [file, content] of givenFiles) doorToBe.given.set(`${folder}/${file}`, Buffer.from(content))
    // One after another at its door, also where other doors are open.
    it.sequential(title, async () => {
      const opened = doorToBe.opened()
      try {
        if (givenFiles.length === 0) await opened.door.mkdir(folder)
        await runCase(opened.door, folder, run)
      } catch (error) {
        console.error(opened.explain())
        throw error
      }
    })
  }
  register(Object.assign(registerCase, { skip: (title: string) => it.skip(title) }))
}

type Body<D extends Door> = (test: Case<D>) => Promise<void>

/** Every case ends with the question whether the service holds what the door shows. */
async function runCase<D extends Door>(door: D, folder: string, run: Body<D>): Promise<void> {
  const staysHere = new Set<string>()
  await run({
    door,
    folder,
    at: (path) => `${folder}/${path}`,
    staysHere: (path) => staysHere.add(path),
  })
  await door.behind.check(folder, staysHere)
}
