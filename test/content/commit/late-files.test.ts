// Which uploads wait for a change whose answer is lost, and for how long.

import { describe, expect, it } from 'vitest'
import { ApiError, ContentError, NetworkError } from '../../../src/api/errors.ts'
import type { Files, Upload } from '../../../src/api/types.ts'
import { lateMs, LateFiles, type LateChange } from '../../../src/content/commit/late-files.ts'
import { EventQueue, promisesFollowed } from '../../world/events.ts'

const never = new AbortController().signal

/** The files of a service whose changes all end with this error. */
function setUp(answer: Error): { files: LateFiles; waitsMs: (wait: Promise<void>) => Promise<number> } {
  const events = new EventQueue()
  async function fail(): Promise<never> {
    throw answer
  }
  const inner: Files = { project: 'p', get: fail, upload: fail, replace: fail, delete: fail, download: fail }
  const files = new LateFiles(
    inner,
    events.clock({ isOver: false, atEnd: [] }, () => 0),
    { note() {} },
  )
  return {
    files,
    async waitsMs(wait) {
      const state = { isOver: false }
      void wait.finally(() => (state.isOver = true))
      await promisesFollowed()
      while (!state.isOver) if (!(await events.next())) throw new Error('it waits for ever')
      return events.now
    },
  }
}

const cut = new NetworkError({ method: 'PUT', path: '/d/a' }, 'cut', 'cut')

const cases: readonly [LateChange, waits: readonly string[], atOnce: readonly string[]][] = [
  [{ verb: 'delete', path: '/d/a' }, ['/d/a', '/d/a/x', '/d'], ['/d/b', '/d/ab', '/a']],
  [{ verb: 'put', path: '/d/a' }, ['/d/a/x', '/d'], ['/d/a', '/d/b', '/d/ab', '/a']],
  [{ verb: 'put', path: '/d/a', source: '/s' }, ['/s', '/d/a/x', '/d'], ['/d/a', '/s/x', '/t']],
]

describe.each(cases)('%j, not answered,', (change, waits, atOnce) => {
  it.each(waits)(`keeps an upload to %s until it is over`, async (path) => {
    const { files, waitsMs } = setUp(cut)
    await sent(files, change)
    expect(await waitsMs(files.ready(path, never))).toBe(lateMs)
  })
  it.each(atOnce)('keeps no upload to %s', async (path) => {
    const { files, waitsMs } = setUp(cut)
    await sent(files, change)
    expect(await waitsMs(files.ready(path, never))).toBe(0)
  })
})

it.each([
  ['/d/a', lateMs],
  ['/d', lateMs],
  ['/d/a/x', 0],
  ['/d/b', 0],
])('an upload to /d/a may arrive at %s for %i ms', async (path, ms) => {
  const { files, waitsMs } = setUp(cut)
  await sent(files, { verb: 'put', path: '/d/a' })
  expect(await waitsMs(files.arrivalsOver(path, never))).toBe(ms)
})

it.each([
  ['no connection', new NetworkError({ method: 'PUT', path: '/a' }, 'unreachable', 'no connection'), 0],
  ['503', new ApiError({ method: 'PUT', path: '/a' }, 503, 'later'), 0],
  ['504', new ApiError({ method: 'PUT', path: '/a' }, 504, 'no answer from behind'), lateMs],
  ['content cut short', new ContentError({ method: 'PUT', path: '/a' }, 'short'), 0],
  ['an abort', new DOMException('aborted', 'AbortError'), lateMs],
])('%s: what it was sent with may arrive for so long', async (_, error, ms) => {
  const { files, waitsMs } = setUp(error)
  await sent(files, { verb: 'put', path: '/a' })
  expect(await waitsMs(files.arrivalsOver('/a', never))).toBe(ms)
})

it('a replace is a DELETE and an upload', async () => {
  const { files, waitsMs } = setUp(cut)
  await files.replace('/a', uploadOf(undefined)).catch(() => {})
  expect(await waitsMs(files.ready('/a', never))).toBe(lateMs)
})

it('a wait ends with its signal', async () => {
  const { files } = setUp(cut)
  await sent(files, { verb: 'delete', path: '/a' })
  const reason = new Error('given up')
  await expect(files.ready('/a', AbortSignal.abort(reason))).rejects.toBe(reason)
})

async function sent(files: LateFiles, { verb, path, source }: LateChange): Promise<void> {
  const call: Promise<unknown> = verb === 'put' ? files.upload(path, uploadOf(source)) : files.delete(path)
  await call.catch(() => {})
}

function uploadOf(source: string | undefined): Upload {
  const content = { kind: 'uri', url: 'http://files/x', ...(source === undefined ? {} : { source }) } as const
  return { mimetype: 'text/plain', filename: 'a', content }
}
