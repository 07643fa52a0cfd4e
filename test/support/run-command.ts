// Runs a docmount command in this process.

import { Command } from 'commander'
import { vi } from 'vitest'
import { exitCodeOf } from '../../src/cli/report-error.ts'

export interface Outcome {
  readonly stdout: string
  readonly exitCode: number
  /** The error's message; empty if the command succeeded. */
  readonly error: string
  readonly stderr: string
}

/** Runs `docmount NAME …`, with the console's output captured. */
export async function docmount(name: string, ...args: readonly string[]): Promise<Outcome> {
  const command = (await import(`../../src/cli/commands/${name}.ts`)) as {
    register(program: Command): void
  }
  let stdout = ''
  let stderr = ''
  vi.spyOn(console, 'log').mockImplementation((line: string) => void (stdout += `${line}\n`))
  vi.spyOn(console, 'error').mockImplementation((line: string) => void (stderr += `${line}\n`))
  // Output for scripts is written directly, not by the console.
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    stdout += String(text)
    return true
  })
  const program = new Command('docmount').exitOverride().configureOutput({ writeErr() {} })
  command.register(program)
  try {
    await program.parseAsync([name, ...args], { from: 'user' })
    return { stdout, stderr, exitCode: 0, error: '' }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return { stdout, stderr, exitCode: exitCodeOf(error), error: error.message }
  }
}
