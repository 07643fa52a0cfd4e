import { afterEach, expect, test } from 'vitest'

import { prepareKernelDoor } from '../../src/daemon/kernel-door.ts'
import { planMount } from '../../src/daemon/mount-plan.ts'
import { silentLog } from '../../src/log.ts'

const { platform } = process
afterEach(() => {
  Object.defineProperty(process, 'platform', { value: platform })
})

test('on macOS mount says in one line which door there is', async () => {
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  const plan = planMount({ project: 'acme', baseUrl: 'http://127.0.0.1:1/api', mountpoint: '/nowhere' })
  const options = {
    plan,
    driver: 'auto',
    makeMountpoint: false,
    allowOther: false,
    readOnly: false,
    liveFolders: true,
    hasAttributes: false,
  } as const
  const message = await prepareKernelDoor({ ...options, log: silentLog }, []).catch(
    (error: Error) => error.message,
  )
  expect(message).toMatch(/^drives are mounted on Linux only.*docmount webdav acme/)
  expect(message).not.toContain('\n')
})
