// Which callers will never see an answer, by what the kernel says of their signals.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { hasFatalSignal, isDying } from '../../src/fuse/kernel/dying-callers.ts'

const none = '0000000000000000'

/** Masks by field; what is not given is empty. */
function status(
  masks: Partial<Record<'SigPnd' | 'ShdPnd' | 'SigBlk' | 'SigIgn' | 'SigCgt', string>>,
): string {
  const fields = ['SigPnd', 'ShdPnd', 'SigBlk', 'SigIgn', 'SigCgt'] as const
  return ['Name:\tcat', ...fields.map((field) => `${field}:\t${masks[field] ?? none}`), ''].join('\n')
}

const kill = '0000000000000100'
const interrupt = '0000000000000002'
const child = '0000000000010000'
const realTime = '8000000000000000'

it('a caller with nothing pending lives', () => {
  expect(hasFatalSignal(status({}))).toBe(false)
})

it('a pending SIGKILL is the end, be it the thread’s or the process’s', () => {
  expect(hasFatalSignal(status({ SigPnd: kill }))).toBe(true)
  expect(hasFatalSignal(status({ ShdPnd: kill }))).toBe(true)
})

it('a signal that ends a program is the end unless it is handled, blocked or ignored', () => {
  expect(hasFatalSignal(status({ ShdPnd: interrupt }))).toBe(true)
  expect(hasFatalSignal(status({ ShdPnd: realTime }))).toBe(true)
  for (const field of ['SigCgt', 'SigBlk', 'SigIgn'] as const)
    expect(hasFatalSignal(status({ ShdPnd: interrupt, [field]: interrupt }))).toBe(false)
})

it('a signal whose default is to be ignored or to stop ends nobody', () => {
  expect(hasFatalSignal(status({ ShdPnd: child }))).toBe(false)
  // TSTP, the terminal's Ctrl-Z.
  expect(hasFatalSignal(status({ ShdPnd: '0000000000080000' }))).toBe(false)
})

it('the kernel’s own words are understood', () => {
  expect(hasFatalSignal(readFileSync('/proc/self/status', 'latin1'))).toBe(false)
  expect(isDying(process.pid)).toBe(false)
})

it('who is not to be seen is not said to be dying', async () => {
  const gone = spawn('true', { stdio: 'ignore' })
  await once(gone, 'exit')
  expect(isDying(gone.pid ?? 0)).toBe(false)
  expect(isDying(0)).toBe(false)
})
