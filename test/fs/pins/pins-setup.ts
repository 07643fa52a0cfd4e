// A filesystem object with something to pin, which can be ended as by a kill, and opened again, with and without the service.

import type { PinStatus } from '../../../src/fs/pins/pin-status.ts'
import { useRestartedFileSystem, type RestartedFileSystem } from '../../support/restarted-file-system.ts'
import { waitUntil } from '../../support/wait-until.ts'

export interface PinsSetup {
  pin(path: string): Promise<void>
  pinOf(path: string): PinStatus
  /** Resolves when all of a pin is here. */
  untilHere(path: string, isSo?: (pin: PinStatus) => boolean): Promise<PinStatus>
}

export const never: AbortSignal = new AbortController().signal

export function usePins(): RestartedFileSystem & PinsSetup {
  const restarted = useRestartedFileSystem({ closeWaitMs: 2_000 })

  function pinOf(path: string): PinStatus {
    const found = restarted.fileSystem.pins().find((one) => one.path === path)
    if (found === undefined) throw new Error(`${path} is not pinned`)
    return found
  }

  return Object.assign(restarted, {
    async pin(path: string) {
      const answer = await restarted.fileSystem.pin(path, { signal: never })
      if (answer.kind !== 'pinned') throw new Error(JSON.stringify(answer))
    },
    pinOf,
    untilHere: (path: string, isSo: (pin: PinStatus) => boolean = () => true) =>
      waitUntil(`${path} to be here`, () => {
        const pin = pinOf(path)
        return pin.state === 'here' && isSo(pin) ? pin : undefined
      }),
  } satisfies PinsSetup)
}
