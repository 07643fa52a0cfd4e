import { expect, test } from 'vitest'
import { isMountHelper, normaliseArguments, optionListOf } from '../../src/cli/mount-helper.ts'

const own = '/usr/bin/docmount'

test('other commands keep their arguments', () => {
  expect(normaliseArguments(own, ['get', 'acme', '-o', 'out.pdf'])).toEqual(['get', 'acme', '-o', 'out.pdf'])
})

test("fstab's options become ours", () => {
  const options = 'ro,base_url=https://x/api?a=b,cache_ttl=5m,allow_other,uid=1000'
  expect(normaliseArguments(own, ['mount', 'acme', '/mnt/x', '-o', options])).toEqual([
    'mount',
    'acme',
    '/mnt/x',
    '--read-only',
    '--base-url',
    'https://x/api?a=b',
    '--cache-ttl',
    '5m',
    '--allow-other',
    '--uid',
    '1000',
  ])
})

test('our options become those of fstab, and back', () => {
  const ours = [
    '--read-only',
    '--close-wait',
    '0',
    '--base-url',
    'https://x/api?a=b',
    '--allow-other',
    '--memory',
    '256MiB',
  ]
  const list = optionListOf(['--read-only', '--close-wait=0', ...ours.slice(3)])
  expect(list.join(',')).toBe('ro,close_wait=0,base_url=https://x/api?a=b,allow_other,memory=256MiB')
  expect(optionListOf(ours)).toEqual(list)
  expect(normaliseArguments(own, ['mount', 'acme', '-o', list.join(',')])).toEqual(['mount', 'acme', ...ours])
})

test.each([['--foreground'], ['-v'], ['--close-wait'], ['--log', 'a,b'], ['somewhere']])(
  '%s %s is nothing that fstab can say',
  (...args) => {
    expect(() => optionListOf(args)).toThrow(/cannot be given in fstab/)
  },
)

test('every option of a drive can be given, one that takes something away too', () => {
  const list = 'no_notify,tables,proxy=proxy.example:3128,ca_file=/etc/ca.pem,driver=kernel'
  expect(normaliseArguments(own, ['mount', 'acme', '-o', list]).slice(2)).toEqual([
    '--no-notify', '--tables', '--proxy', 'proxy.example:3128', '--ca-file', '/etc/ca.pem', '--driver', 'kernel',
  ]) // prettier-ignore
})

test('what mount(8) and fstab say to each other is passed over', () => {
  const options = 'rw,dev,suid,exec,auto,noauto,nofail,user,_netdev,defaults,nosuid,x-gvfs-show,comment=mine,'
  expect(normaliseArguments(own, ['mount', 'acme', '-o', options])).toEqual(['mount', 'acme'])
})

test.each(['foo=bar', 'cache_ttl', 'api_key=x', 'ro=1', '--foreground', 'fd=3'])(
  'the unknown option %j is refused',
  (option) => {
    expect(() => normaliseArguments(own, ['mount', 'acme', '-o', option])).toThrow(/unknown mount option/)
  },
)

test('mount(8) calls its helper and mount.fuse3 calls the program', () => {
  const expected = ['mount', 'acme:', '/mnt/x', '--read-only', '--source', 'acme:', '--quiet']
  const helper = '/sbin/mount.docmount'
  expect(normaliseArguments(helper, ['acme:', '/mnt/x', '-n', '-s', '-o', 'ro,nosuid'])).toEqual(expected)
  expect(normaliseArguments(helper, ['acme:', '/mnt/x', '-t', 'fuse.docmount', '-o', 'ro'])).toEqual(expected)
  expect(normaliseArguments(own, ['acme:', '/mnt/x', '-o', 'ro,dev,suid'])).toEqual(expected)
})

test('only the helper names are helpers', () => {
  expect(['/sbin/mount.docmount', 'mount.fuse.docmount', own, 'main.js'].map(isMountHelper)).toEqual([
    true,
    true,
    false,
    false,
  ])
})
