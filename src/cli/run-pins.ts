// Implements `docmount pin` and `docmount pins`.

import { setTimeout as sleep } from 'node:timers/promises'
import { CommandError } from './command-error.ts'
import { findDrivesOfHome, type FoundMount, type PathOnMount } from '../daemon/find-mount.ts'
import type { PinStatus } from '../fs/pins/pin-status.ts'
import { formatBytes } from '../amounts.ts'
import { askDrive, findDrive, interruptSignal } from './find-drive.ts'
import { printable } from '../printable.ts'
import { printJson, printTable } from './output.ts'
import { countOf, pinProgress, noRoomLine } from './pin-text.ts'
import { startProgress } from './progress.ts'

const pollMs = 200

export async function runPin(path: string, waits: boolean): Promise<void> {
  const place = await findDrive(path)
  const signal = interruptSignal()
  const answer = await askDrive(place.found, 'pin', { path: place.path }, { signal })
  if (answer.kind === 'no-room') throw new CommandError(noRoomLine(path, answer))
  if (answer.isAway)
    console.log(`${printable(path)} is pinned; the service is away: it is fetched when it is back`)
  else if (!waits) console.log(`${printable(path)} is pinned; docmount pins shows how much of it is here`)
  if (waits) await waitUntilHere(place, path, signal)
}

/** Waits until everything is fetched. Throws CommandError, temporary if some of it cannot be fetched now. */
async function waitUntilHere(
  { found, path: pinned }: PathOnMount,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const progress = startProgress(path)
  try {
    for (;;) {
      const { pins } = await askDrive(found, 'pins', {}, { signal })
      const pin = pins.find((each) => each.path === pinned)
      if (pin === undefined) throw new CommandError(`${path} is not pinned any more`)
      if (pin.state === 'here') {
        console.log(`${printable(path)} is pinned, ${pinProgress(pin)}`)
        return
      }
      if (pin.state !== 'fetching' && pin.problem !== undefined)
        throw new CommandError(`${path}: ${pinProgress(pin)}: ${pin.problem}`, { isTemporary: true })
      progress.set(pin.bytesHere, pin.bytes)
      await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  } finally {
    progress.end()
  }
}

export async function runPins(mountpoint: string | undefined, options: { json?: boolean }): Promise<void> {
  const drives = mountpoint === undefined ? await liveDrives() : [(await findDrive(mountpoint)).found]
  const all: (PinStatus & { readonly mountpoint: string })[] = []
  for (const found of drives) {
    const { pins } = await askDrive(found, 'pins', {})
    all.push(...pins.map((pin) => ({ mountpoint: found.mountpoint, ...pin })))
  }
  if (options.json === true) return printJson(all)
  if (all.length === 0) return console.log('nothing is pinned')
  const rows = all.map((pin) => [
    pin.mountpoint + (pin.path === '/' ? '' : pin.path),
    pin.state,
    `${pin.documentsHere} of ${countOf(pin.documents)}`,
    `${formatBytes(pin.bytesHere)} of ${formatBytes(pin.bytes)}`,
    pin.problem ?? '',
  ])
  printTable(['PATH', 'STATE', 'HERE', 'BYTES', 'PROBLEM'], rows)
}

async function liveDrives(): Promise<readonly FoundMount[]> {
  return (await findDrivesOfHome()).filter(({ isDaemonAlive }) => isDaemonAlive)
}
