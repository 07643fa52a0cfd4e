#!/usr/bin/env node
// Entry point of the command line: runs the command, and turns errors into one line and an exit code.

import { setFlagsFromString } from 'node:v8'
import { cleanConsole } from './clean-console.ts'
import { exitCodes } from './exit-codes.ts'
import { watchOutput } from './lost-output.ts'
import { isMountHelper, normaliseArguments } from './mount-helper.ts'
import { makeProgram } from './program.ts'
import { reportError } from './report-error.ts'

async function main(script: string, rawArgs: readonly string[]): Promise<void> {
  // Node's default of 4 threads is too few for a daemon's fsyncs, spool reads and cache writes. libuv reads this at first use.
  process.env['UV_THREADPOOL_SIZE'] ??= '16'
  // V8 would recompile the HTTP parser (WebAssembly) with optimisation after the first response: 80 ms of CPU time, which the
  // faster code never saves.
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
// Node's default handler would open a debugger port, which every user of this machine could use.
process.on('SIGUSR1', () => {})
cleanConsole()
try {
  await main(script, process.argv.slice(2))
} catch (error) {
  const exitCode = reportError(error)
  process.exitCode = isMountHelper(script) ? helperExitCode(exitCode) : exitCode
}
