// Reports on a tool that ran, and on one that did not.

import { afterEach, expect, test, vi } from 'vitest'
import { runTool } from '../src/run-tool.ts'

afterEach(() => void vi.unstubAllEnvs())

const shell = (script: string, options?: Parameters<typeof runTool>[2]): ReturnType<typeof runTool> =>
  runTool('sh', ['-c', script], options)

test('what it says, and its exit code, whatever that is', async () => {
  const ended = await shell('echo said; echo complained >&2; exit 3')
  expect(ended).toMatchObject({ code: 3, stdout: 'said\n', stderr: 'complained\n' })
  expect(await shell('true')).toMatchObject({ code: 0, stdout: '', stderr: '' })
})

test('it reads what it is given, and nothing where nothing is given', async () => {
  expect(await runTool('cat', [], { input: 'secret' })).toMatchObject({ stdout: 'secret' })
  expect(await runTool('cat', [])).toMatchObject({ code: 0, stdout: '' })
})

test('one that ends without reading ends as it does', async () => {
  expect(await shell('exit 2', { input: 'x'.repeat(2 ** 20) })).toMatchObject({ code: 2 })
})

test('it runs from the root, and in the language of whoever reads it', async () => {
  vi.stubEnv('LC_ALL', 'de_DE.UTF-8')
  expect((await shell('pwd; echo "$LC_ALL"')).stdout).toBe('/\nde_DE.UTF-8\n')
})

test('one that is killed has a signal and no exit code', async () => {
  expect(await shell('kill -9 $$')).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('one that does not end is killed after its limit, though it ignores a polite signal', async () => {
  const ended = await shell('trap "" TERM; exec sleep 600', { limitMs: 200 })
  expect(ended).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('one that is not there, or may not be run, is an error with its code', async () => {
  await expect(runTool('docmount-has-no-such-tool', [])).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(runTool('/etc/passwd', [])).rejects.toMatchObject({ code: 'EACCES' })
})
