import { expect, test } from 'vitest'
import type { Check } from '../../src/daemon/doctor.ts'
import { checkMachine, checkDrivers } from '../../src/daemon/doctor-machine.ts'
import type { DriverFacts } from '../../src/daemon/select-driver.ts'
import { cli } from '../support/cli.ts'
import { makeOrdinaryUser, whyNoUserMount } from '../support/ordinary-user.ts'

const nothing: DriverFacts = {
  platform: 'linux',
  devFuse: 'missing',
  canMount: false,
  isDescriptorPassed: false,
  hasFusermount: false,
  hasKoffi: false,
  fuseNative: { loads: false, why: 'libfuse.so.2 is missing' },
}
const user: DriverFacts = {
  ...nothing,
  devFuse: 'usable',
  hasFusermount: true,
  hasKoffi: true,
}

async function resultsOf(facts: DriverFacts): Promise<Record<string, Check['result']>> {
  const checks = await checkDrivers(facts)
  return Object.fromEntries(checks.map(({ name, result }) => [name, result]))
}

test('a machine that has everything is good', async () => {
  expect(await resultsOf({ ...user, fuseNative: { loads: true } })).toMatchObject({
    driver: 'good',
    '/dev/fuse': 'good',
    fusermount3: 'good',
    koffi: 'good',
    'fuse-native': 'good',
  })
})

test('a machine that has nothing has a fix for every line', async () => {
  const checks = await checkDrivers(nothing)
  expect(checks.filter(({ result }) => result === 'problem').map(({ name }) => name)).toEqual([
    'driver',
    '/dev/fuse',
    'fusermount3',
    'koffi',
  ])
  for (const { name, result, fix } of checks)
    if (result !== 'good') expect([name, fix]).toEqual([name, expect.any(String)])
})

test('a device that an ordinary user may not open is a problem, with the line for root', async () => {
  const checks = await checkDrivers({ ...user, devFuse: 'denied' })
  expect(checks.find(({ name }) => name === '/dev/fuse')).toMatchObject({
    result: 'problem',
    fix: 'as root run: chmod 666 /dev/fuse',
  })
  expect(checks[0]).toMatchObject({ name: 'driver', result: 'problem' })
})

test('what root does without is no problem for root', async () => {
  const root: DriverFacts = { ...nothing, devFuse: 'usable', canMount: true }
  expect(await resultsOf(root)).toEqual({
    driver: 'good',
    '/dev/fuse': 'good',
    fusermount3: 'note',
    user_allow_other: 'good',
    koffi: 'note',
    'fuse-native': 'note',
  })
})

test('without koffi an ordinary user has no kernel driver', async () => {
  expect(await resultsOf({ ...user, hasKoffi: false })).toMatchObject({ driver: 'problem', koffi: 'problem' })
})

test('this machine is looked at, folders too', async () => {
  const names = (await checkMachine()).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['driver', 'state folder', 'cache folder', 'runtime folder']))
})

test.skipIf(whyNoUserMount() !== undefined)(
  'nobody is told to take over a folder of the system in which theirs cannot be made',
  async () => {
    const ordinary = await makeOrdinaryUser()
    try {
      const line =
        'env -i PATH="$PATH" HOME=/nowhere/at/all XDG_RUNTIME_DIR=/nowhere "$1" "$2" doctor --json || true'
      const checks = JSON.parse((await ordinary.bash(line, process.execPath, cli)).stdout) as Check[]
      const folders = checks.filter(({ name }) => name.endsWith(' folder'))
      expect(folders.map(({ finding }) => finding.split(';')[0])).toEqual([
        '/nowhere/at/all/.local/state/docmount cannot be made in /',
        '/nowhere/at/all/.cache/docmount cannot be made in /',
        '/nowhere/docmount cannot be made in /',
      ])
      expect(folders.map(({ fix }) => fix)).toEqual(
        folders.map(() => expect.stringMatching(/^set HOME to a folder of yours/)),
      )
    } finally {
      await ordinary.remove()
    }
  },
)
