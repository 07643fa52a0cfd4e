// The npm package `fuse-native` (the binding): its types, since it has none, and corrections of what it does. It is loaded only
// when a drive is mounted with it. Its callbacks are in callbacks.ts.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'

import { MountError } from '../driver.ts'
import type { NativeCallbacks } from './callbacks.ts'

/** One mount of the binding. Members with an underscore are internal to it, so its exact version is pinned. */
export interface NativeFuse {
  mount(done: (error: Error | null) => void): void
  unmount(done: (error: Error | null) => void): void
  _fuseOptions(): string
  _op_fgetattr(signal: unknown, path: string, fh: number): void
}

interface FuseConstructor {
  new (mountpoint: string, callbacks: NativeCallbacks, options: { timeout: false }): NativeFuse
  unmount(mountpoint: string, done: (error: Error | null) => void): void
  readonly prototype: NativeFuse
}

/**
 * Returns a mount that is not mounted yet. `options` is libfuse's option list without `-o`.
 * Throws a MountError that names the package to install.
 */
export function nativeFuse(mountpoint: string, callbacks: NativeCallbacks, options: string): NativeFuse {
  const Fuse = loadFuse()
  // timeout: the binding would answer ETIMEDOUT after 15 s while the operation goes on; deadlines are the client's.
  const fuse = new Fuse(mountpoint, callbacks, { timeout: false })
  // The binding's own list lacks big_writes and does not escape.
  fuse._fuseOptions = () => `-o${options}`
  // The original drops the handle and uses the path, which fails for a file that was deleted while open.
  fuse._op_fgetattr = (signal, path, fh) => {
    const withHandle = {
      ops: {
        fgetattr: true,
        getattr: (_: string, reply: never) => callbacks.fgetattr(path, fh, reply),
      },
    }
    Fuse.prototype._op_fgetattr.call(withHandle as unknown as NativeFuse, signal, path, fh)
  }
  return fuse
}

function loadFuse(): FuseConstructor {
  if (!isMainThread) {
    throw new MountError('EINVAL', 'fuse-native crashes in a worker thread: mount from the main thread')
  }
  let Fuse: FuseConstructor
  try {
    Fuse = createRequire(import.meta.url)('fuse-native') as FuseConstructor
  } catch (error) {
    throw notLoaded(error)
  }
  // The original passes the mountpoint to a shell inside double quotes, so that `$(…)` in a name would run, and is always
  // lazy, so that a busy drive looks unmounted. The binding calls it when it mounts (`force`) and when it closes.
  Fuse.unmount = (_, done) => done(null)
  return Fuse
}

function notLoaded(cause: unknown): MountError {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (message.includes('libfuse')) {
    const fix = libfuseInstallCommand(readOsRelease())
    return new MountError('ELIBACC', `fuse-native needs the library of FUSE 2: run ${fix}`, { cause })
  }
  if (message.includes("'fuse-native'")) {
    const line = 'fuse-native is not installed: run npm install fuse-native@2.2.6, or use --driver kernel'
    return new MountError('ELIBACC', line, { cause })
  }
  const line = `fuse-native does not load on ${process.platform} ${process.arch}: use --driver kernel (${message.split('\n')[0]})`
  return new MountError('ELIBACC', line, { cause })
}

function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8')
  } catch {
    return ''
  }
}

/** Returns the command that installs libfuse.so.2. `osRelease`: text of /etc/os-release. */
export function libfuseInstallCommand(osRelease: string): string {
  const field = (name: string): string => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(osRelease)?.[1] ?? ''
  const families = `${field('ID')} ${field('ID_LIKE')}`.split(' ')
  const version = Number.parseFloat(field('VERSION_ID'))
  if (families.includes('alpine')) return '`apk add fuse`'
  if (families.includes('fedora') || families.includes('rhel')) return '`dnf install fuse-libs`'
  if (families.includes('arch')) return '`pacman -S fuse2`'
  if (field('ID') === 'debian' || field('ID') === 'ubuntu') {
    const renamedIn = field('ID') === 'debian' ? 13 : 24.04
    return version < renamedIn ? '`apt install libfuse2`' : '`apt install libfuse2t64`'
  }
  return '`apt install libfuse2t64` (`libfuse2` before Debian 13 and Ubuntu 24.04), `dnf install fuse-libs` or `apk add fuse`'
}
