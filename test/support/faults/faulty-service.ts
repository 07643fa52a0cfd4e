// The reference service in this process, which notes every request and misbehaves on demand. Hooks do it, in its own process:
// they cost no hop, and see what it answers before a fault takes the answer away.

import type { Service, ServiceOptions } from '../../../src/service/contract.ts'
import { startService } from '../../../src/service/start-service.ts'
import { registerCallLog } from './call-log.ts'
import type { Call, Faults } from './fault.ts'
import { registerFaultHooks } from './fault-hooks.ts'
import { FaultSwitch } from './fault-switch.ts'
import { NodeHistory } from './node-history.ts'
import { registerRouteFaults } from './route-faults.ts'

export interface FaultyService extends Service {
  readonly faults: Faults
  /** Every request since the last `clearCalls`, in order of arrival. */
  readonly calls: readonly Call[]
  clearCalls(): void
  /** Begins anew for one project: requests for others are not noted, and no fault hits them. */
  noteOnly(project: string): void
}

/** By store: it outlives a service that is started again, and is shared by nodes. */
const histories = new Map<string | undefined, NodeHistory>()

export async function startFaultyService(options: ServiceOptions): Promise<FaultyService> {
  const store = options.database?.url ?? options.dataDir
  const history = histories.get(store) ?? new NodeHistory()
  histories.set(store, history)
  const faults = new FaultSwitch()
  const calls: Call[] = []
  const noted: { project?: string } = {}
  const closing = new AbortController()
  const service = await startService({
    ...options,
    extend(app) {
      registerCallLog(app, calls, history, noted)
      registerRouteFaults(app, faults, history)
      registerFaultHooks(app, faults, closing.signal)
    },
  })
  return {
    ...service,
    faults,
    calls,
    clearCalls: () => void (calls.length = 0),
    noteOnly(project) {
      noted.project = project
      calls.length = 0
      faults.reset()
    },
    close: () => {
      closing.abort()
      return service.close()
    },
  }
}
