// Loads a driver's code when it is wanted, so that a broken native module harms nobody who does not use it.

import type { Driver, DriverName } from '../fuse/driver.ts'

export async function loadDriver(name: DriverName): Promise<Driver> {
  if (name === 'kernel') return (await import('../fuse/kernel/driver.ts')).kernelDriver
  return (await import('../fuse/native/driver.ts')).fuseNativeDriver
}
