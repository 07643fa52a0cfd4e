// Loads a driver's code on demand, so that a broken native module harms only those who use it.

import type { Driver, DriverName } from '../fuse/driver.ts'

export async function loadDriver(name: DriverName): Promise<Driver> {
  if (name === 'kernel') return (await import('../fuse/kernel/driver.ts')).kernelDriver
  return (await import('../fuse/native/driver.ts')).fuseNativeDriver
}
