// The reference service as a library: start it, make it misbehave on demand, close it.

export { startService } from './start-service.ts'
export { type Limits, defaultLimits } from './limits.ts'
export { StartError } from './start-error.ts'
export type {
  AnnouncedProject,
  Call,
  Fault,
  Faults,
  FaultTarget,
  Service,
  ServiceOptions,
} from './contract.ts'
