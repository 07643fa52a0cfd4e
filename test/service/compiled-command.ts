// The `docmount` command compiled into a folder of its own: what dies by kill -9 has to be a process of its own, and
// Node 20 runs no TypeScript.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { builtOnce, root } from '../support/built-once.ts'

const execute = promisify(execFile)

export interface Announcement {
  readonly base_url: string
  readonly metrics_url?: string
  readonly projects: readonly { readonly name: string; readonly api_key?: string }[]
}

export interface ServeProcess {
  readonly announcement: Announcement
  readonly process: ChildProcess
  /** Everything said on standard error so far. */
  log(): string
  /** And on standard output. */
  output(): string
  /** Sends a signal and waits for the end; answers the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

export interface ServeOptions {
  /** More variables. */
  readonly environment?: Readonly<Record<string, string>>
  /** A file descriptor to complain to; then `log` stays empty. */
  readonly stderr?: number
}

export interface CompiledCommand {
  /** Goes with `remove`. */
  readonly folder: string
  /** Runs to its end; throws when it fails. */
  run(...args: string[]): Promise<{ stdout: string; stderr: string }>
  /** `serve --json` with these arguments, once it is listening. */
  serve(...args: string[]): Promise<ServeProcess>
  serveWith(options: ServeOptions, ...args: string[]): Promise<ServeProcess>
  remove(): Promise<void>
}

/** A copy of the file's own, which it may change: it is compiled once in a run, for whoever comes first. */
export async function compileCommand(): Promise<CompiledCommand> {
  const compiled = await builtOnce('command', ['src'], compile)
  const folder = await mkdtemp(join(tmpdir(), 'docmount-command-'))
  const main = join(folder, 'dist', 'cli', 'main.js')
  await execute('cp', ['-r', compiled, join(folder, 'dist')])
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return {
    run: (...args) => execute(process.execPath, [main, ...args]),
    folder,
    serve: (...args) => serve(main, {}, args),
    serveWith: (options, ...args) => serve(main, options, args),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

const compile =
  '"$2/node_modules/.bin/tsc" -p "$2" --outDir "$1" --noCheck --declaration false --sourceMap false' +
  ' --isolatedDeclarations false && "$3" "$2/scripts/bundle-program.mjs" "$1"'

/** Compiles the work tree `tree`, which has packages, into the folder `dist`. */
export async function compileTo(dist: string, tree: string): Promise<void> {
  await execute('sh', ['-c', compile, 'sh', dist, tree, process.execPath])
}

/** Starts a compiled `main.js`. */
export async function serve(
  main: string,
  { environment, stderr }: ServeOptions,
  args: readonly string[],
): Promise<ServeProcess> {
  const child = spawn(process.execPath, [main, 'serve', '--listen', '127.0.0.1:0', '--json', ...args], {
    stdio: ['ignore', 'pipe', stderr ?? 'pipe'],
    env: { ...process.env, ...environment },
  })
  let log = ''
  let output = ''
  child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = once(child, 'close') as Promise<[number | null]>
  const first = await Promise.race([
    once(createInterface(child.stdout!), 'line'),
    ended.then(() => undefined),
  ])
  if (first === undefined) throw new Error(`the service ended at once: ${log}`)
  return {
    announcement: JSON.parse(first[0] as string) as Announcement,
    process: child,
    log: () => log,
    output: () => output,
    end: async (signal) => {
      child.kill(signal)
      return (await ended)[0]
    },
  }
}
