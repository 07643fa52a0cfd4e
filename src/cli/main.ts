#!/usr/bin/env node
// The command line's frame: finds the command, runs it, turns errors into one line and an exit code.

import { setFlagsFromString } from 'node:v8'
import { cleanConsole } from './clean-console.ts'
import { exitCodes } from './exit-codes.ts'
import { watchOutput } from './lost-output.ts'
import { isMountHelper, normaliseArguments } from './mount-helper.ts'
import { makeProgram } from './program.ts'
import { reportError } from './report-error.ts'

async function main(script: string, rawArgs: readonly string[]): Promise<void> {
  // Read when the pool is first used. A daemon's fsyncs, spool reads and cache writes should not wait for four threads.
  process.env['UV_THREADPOOL_SIZE'] ??= '16'
  // The HTTP parser is WebAssembly; V8 would compile it a second time after the first answer, for 80 ms of processor
  // that no number of answers earns back.
  setFlagsFromString('--no-wasm-tier-up')
  const args = normaliseArguments(script, rawArgs)
  watchOutput(args[0])
  const program = await makeProgram(args[0])
  if (args.length === 0) {
    program.outputHelp()
    return
  }
  await program.parseAsync(args, { from: 'user' })
}

/** mount(8) expects 1 for wrong usage and 32 for a mount that failed. */
function helperExitCode(exitCode: number): number {
  if (exitCode === exitCodes.ok) return 0
  return exitCode === exitCodes.usage ? 1 : 32
}

const script = process.argv[1] ?? ''
// Node would open a debugger's port, to every user of this machine.
process.on('SIGUSR1', () => {})
cleanConsole()
try {
  await main(script, process.argv.slice(2))
} catch (error) {
  const exitCode = reportError(error)
  process.exitCode = isMountHelper(script) ? helperExitCode(exitCode) : exitCode
}
