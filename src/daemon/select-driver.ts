// The choice of a driver: pure functions of the facts that driver-facts.ts gathers.

import { type DriverName, MountError } from '../fuse/driver.ts'

/** Facts of this machine that decide which driver is used. */
export interface DriverFacts {
  readonly platform: string
  readonly devFuse: 'usable' | 'denied' | 'missing'
  /** True with CAP_SYS_ADMIN: mount(2) is allowed. */
  readonly canMount: boolean
  /** True if the mountpoint is `/dev/fd/N`: another program has mounted and passed the descriptor. */
  readonly isDescriptorPassed: boolean
  readonly hasFusermount: boolean
  /** True if the descriptor of fusermount3 can be received. */
  readonly hasKoffi: boolean
  /** Undefined if it was not tried, which takes a child process. */
  readonly fuseNative: { readonly loads: true } | { readonly loads: false; readonly why: string } | undefined
}

export interface DriverChoice {
  readonly driver: DriverName
  /** One sentence for `docmount doctor` and the log. */
  readonly why: string
}

/** Returns if the kernel driver can be used; `why` says how it gets its descriptor, or the obstacle. */
export function judgeKernelDriver(facts: DriverFacts): { isPossible: boolean; why: string } {
  const yes = (why: string) => ({ isPossible: true, why })
  const no = (why: string) => ({ isPossible: false, why })
  if (facts.platform !== 'linux') return no('the kernel driver speaks to Linux only')
  if (facts.isDescriptorPassed) return yes('the mountpoint is a descriptor that was mounted already')
  if (facts.devFuse === 'missing') return no('/dev/fuse does not exist (run: modprobe fuse)')
  // fusermount3 does not help: it opens the device with the rights of its caller.
  if (facts.devFuse === 'denied') return no(`/dev/fuse may not be opened (${fixOfDenied(facts)})`)
  if (facts.canMount) return yes('this process may mount without help')
  if (!facts.hasFusermount) return no('fusermount3 is missing (install the package fuse3)')
  if (!facts.hasKoffi)
    return no('nothing can receive the descriptor from fusermount3 (run: npm install koffi)')
  return yes('fusermount3 mounts and koffi receives the descriptor')
}

/** Returns the fix. Root is denied only in a container without the device. */
export function fixOfDenied({ canMount }: Pick<DriverFacts, 'canMount'>): string {
  return canMount ? 'in a container: --device /dev/fuse' : 'as root run: chmod 666 /dev/fuse'
}

/** Returns the driver to use. Throws a MountError (ENODEV) that names the missing packages. */
export function selectDriver(requested: DriverName | 'auto', facts: DriverFacts): DriverChoice {
  const kernel = judgeKernelDriver(facts)
  if (requested !== 'fuse-native' && kernel.isPossible) return { driver: 'kernel', why: kernel.why }
  if (requested === 'kernel')
    throw new MountError('ENODEV', `the kernel driver cannot be used: ${kernel.why}`)
  if (facts.fuseNative?.loads === true && facts.devFuse === 'usable' && !facts.isDescriptorPassed) {
    const why = requested === 'fuse-native' ? 'asked for' : `the kernel driver cannot be used: ${kernel.why}`
    return { driver: 'fuse-native', why }
  }
  const nativeWhy = describeNative(facts)
  if (requested === 'fuse-native') {
    throw new MountError('ENODEV', `the fuse-native driver cannot be used: ${nativeWhy}`)
  }
  throw new MountError('ENODEV', `no FUSE here: ${kernel.why}; fuse-native cannot help either: ${nativeWhy}`)
}

function describeNative({ fuseNative, devFuse, isDescriptorPassed }: DriverFacts): string {
  if (isDescriptorPassed) return 'it cannot serve a descriptor that was mounted already (use --driver kernel)'
  if (fuseNative === undefined) return 'it was not tried'
  if (!fuseNative.loads) return fuseNative.why
  return `it needs /dev/fuse too, which ${devFuse === 'missing' ? 'does not exist' : 'may not be opened'}`
}
