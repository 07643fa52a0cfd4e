// Facts of this machine that decide which driver can mount; select-driver.ts decides.

import { access, constants, open, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import type { DriverName } from '../fuse/driver.ts'
import { runTool, type ToolEnded } from '../run-tool.ts'
import { type DriverChoice, type DriverFacts, judgeKernelDriver, selectDriver } from './select-driver.ts'

const resolveModule = createRequire(import.meta.url).resolve

/** Gathers the facts and selects a driver. fuse-native is tried only if the choice depends on it. */
export async function chooseDriver(
  requested: DriverName | 'auto',
  { isDescriptorPassed }: Pick<DriverFacts, 'isDescriptorPassed'>,
): Promise<DriverChoice> {
  const facts = await gatherDriverFacts({ isDescriptorPassed })
  const isKernelDriver =
    requested === 'kernel' || (requested === 'auto' && judgeKernelDriver(facts).isPossible)
  return selectDriver(requested, isKernelDriver ? facts : { ...facts, fuseNative: await tryFuseNative() })
}

/** Resolves with all facts but `fuseNative`, which `tryFuseNative` finds out at the cost of a child process. */
export async function gatherDriverFacts({
  isDescriptorPassed,
}: Pick<DriverFacts, 'isDescriptorPassed'>): Promise<DriverFacts> {
  return {
    platform: process.platform,
    devFuse: await checkDevFuse(),
    canMount: await hasSysAdmin(),
    isDescriptorPassed,
    hasFusermount: (await findProgram('fusermount3')) !== undefined,
    hasKoffi: isInstalled('koffi'),
    fuseNative: undefined,
  }
}

/** Loads fuse-native in a child process: a native module built for another system may crash the process that loads it. */
export async function tryFuseNative(): Promise<NonNullable<DriverFacts['fuseNative']>> {
  let module: string
  try {
    module = resolveModule('fuse-native')
  } catch {
    return { loads: false, why: 'the package fuse-native is not installed (run: npm install fuse-native)' }
  }
  const ended = await runTool(process.execPath, ['-e', 'require(process.argv[1])', module]).catch(
    (error: Error) => ({ code: null, signal: undefined, stderr: String(error) }),
  )
  return ended.code === 0 ? { loads: true } : { loads: false, why: describeLoadFailure(ended) }
}

function describeLoadFailure({ stderr, signal }: Pick<ToolEnded, 'stderr' | 'signal'>): string {
  if (stderr.includes('libfuse.so.2')) {
    return 'libfuse.so.2 is missing (install the package libfuse2, or libfuse2t64 on Debian 13 and Ubuntu 24.04)'
  }
  const line = stderr.split('\n').find((line) => /Error/.test(line))
  return `its native module does not load (${line?.trim() ?? signal ?? 'no reason given'})`
}

async function checkDevFuse(): Promise<DriverFacts['devFuse']> {
  try {
    await (await open('/dev/fuse', 'r+')).close()
    return 'usable'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'denied'
  }
}

/** CAP_SYS_ADMIN is bit 21 of the effective capabilities. */
async function hasSysAdmin(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8').catch(() => '')
  const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1]
  return capabilities !== undefined && (BigInt(`0x${capabilities}`) & (1n << 21n)) !== 0n
}

function isInstalled(module: string): boolean {
  try {
    resolveModule(module)
    return true
  } catch {
    return false
  }
}

/** Resolves with the program's path by `$PATH`, or undefined. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const file = join(folder, name)
    const isExecutable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (folder !== '' && isExecutable) return file
  }
  return undefined
}
