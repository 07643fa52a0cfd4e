// A service and a drive for each test, which may be killed and started again.

import { afterEach, beforeEach } from 'vitest'

import { startCrashingDrive, type CrashingDrive } from '../support/crashing-drive.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

export interface MountWith {
  readonly env?: NodeJS.ProcessEnv
  /** Default: the test's service. */
  readonly baseUrl?: string
  readonly apiKey?: string
}

/** Made afresh for each test of the suite that calls it. */
export function useFaultDrive(): FaultDrive {
  const fault = new FaultDrive()
  beforeEach(() => fault.begin())
  afterEach(({ task }) => fault.end(task.result?.state === 'fail'))
  return fault
}

class FaultDrive {
  #temporary: TemporaryFolder | undefined
  #service: TestService | undefined
  #drive: CrashingDrive | undefined

  get folder(): string {
    return must(this.#temporary).path
  }

  get service(): TestService {
    return must(this.#service)
  }

  /** Starts the daemon, again after a kill: state and cache are kept. */
  async mount(args: readonly string[] = [], options: MountWith = {}): Promise<CrashingDrive> {
    const { baseUrl = this.service.baseUrl, apiKey = this.service.apiKey, env = {} } = options
    this.#drive = await startCrashingDrive({ folder: this.folder, baseUrl, apiKey, args, env })
    return this.#drive
  }

  /** Text of the document that the service holds at a path. */
  async held(path: string): Promise<string | undefined> {
    const { other } = this.service
    return (await other.get(path)) === undefined ? undefined : (await other.bytes(path)).toString()
  }

  async begin(): Promise<void> {
    this.#temporary = await makeTemporaryFolder()
    this.#service = await startTestService()
  }

  async end(hasFailed: boolean): Promise<void> {
    if (hasFailed) console.error(this.#drive?.log())
    await this.#drive?.remove()
    this.#drive = undefined
    await this.#service?.close()
    await this.#temporary?.remove()
  }
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('only inside a test')
  return value
}

/** The code an operation fails with; undefined when it succeeds. */
export async function errorOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )
}
