import { expect, test } from 'vitest'
import { type DriverFacts, judgeKernelDriver, selectDriver } from '../../src/daemon/select-driver.ts'

const user: DriverFacts = {
  platform: 'linux',
  devFuse: 'usable',
  canMount: false,
  isDescriptorPassed: false,
  hasFusermount: true,
  hasKoffi: true,
  fuseNative: { loads: true },
}
const root: DriverFacts = { ...user, canMount: true, hasFusermount: false }
const broken: DriverFacts['fuseNative'] = { loads: false, why: 'libfuse.so.2 is missing' }

test('root takes the kernel driver without fusermount3', () => {
  expect(selectDriver('auto', root).driver).toBe('kernel')
})

test('a user takes the kernel driver through fusermount3 and koffi', () => {
  expect(selectDriver('auto', user)).toEqual({
    driver: 'kernel',
    why: 'fusermount3 mounts and koffi receives the descriptor',
  })
})

test('a passed descriptor needs nothing else', () => {
  const facts: DriverFacts = {
    ...user,
    isDescriptorPassed: true,
    hasFusermount: false,
    hasKoffi: false,
  }
  expect(selectDriver('auto', facts).driver).toBe('kernel')
  expect(selectDriver('auto', { ...facts, devFuse: 'missing' }).driver).toBe('kernel')
  expect(() => selectDriver('fuse-native', facts)).toThrow(/use --driver kernel/)
})

test('who may not open /dev/fuse is not sent to fusermount3 or fuse-native, which may not either', () => {
  expect(() => selectDriver('auto', { ...user, devFuse: 'denied' })).toThrow(
    'no FUSE here: /dev/fuse may not be opened (as root run: chmod 666 /dev/fuse); ' +
      'fuse-native cannot help either: it needs /dev/fuse too, which may not be opened',
  )
  const inContainer: DriverFacts = { ...root, devFuse: 'denied', hasFusermount: true }
  expect(() => selectDriver('kernel', inContainer)).toThrow(/--device \/dev\/fuse/)
})

test('root without the right to mount goes the way of a user', () => {
  const facts: DriverFacts = { ...root, canMount: false }
  expect(judgeKernelDriver(facts)).toMatchObject({ isPossible: false, why: /fusermount3 is missing/ })
  expect(selectDriver('auto', { ...facts, hasFusermount: true }).driver).toBe('kernel')
})

test('fuse-native steps in where the kernel driver cannot get a descriptor', () => {
  const facts: DriverFacts = { ...user, hasKoffi: false }
  expect(selectDriver('auto', facts)).toMatchObject({ driver: 'fuse-native', why: /npm install koffi/ })
})

test('a driver that was asked for is taken or refused, never replaced', () => {
  expect(selectDriver('fuse-native', root).driver).toBe('fuse-native')
  expect(() => selectDriver('fuse-native', { ...root, fuseNative: broken })).toThrow(
    /libfuse\.so\.2 is missing/,
  )
  expect(() => selectDriver('kernel', { ...user, hasFusermount: false })).toThrow(/install the package fuse3/)
})

test('where nothing works the error names what both drivers miss', () => {
  const facts: DriverFacts = { ...user, devFuse: 'missing', fuseNative: broken }
  expect(() => selectDriver('auto', facts)).toThrow(/modprobe fuse.*libfuse\.so\.2/)
  expect(() => selectDriver('auto', { ...facts, platform: 'darwin' })).toThrow(/Linux only/)
})
