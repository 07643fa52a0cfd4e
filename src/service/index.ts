// The reference service as a library: start it, close it.

export { startService } from './start-service.ts'
export { type Limits, defaultLimits } from './limits.ts'
export { StartError } from './start-error.ts'
export type { AnnouncedProject, Service, ServiceOptions } from './contract.ts'
