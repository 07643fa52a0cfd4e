// Words of the fuse-native driver to libfuse, and its reading of the system: options, numbers, names, the mount table.

import { describe, expect, test } from 'vitest'
import type { Attributes } from '../../src/fs/operations.ts'
import { libfuseInstallCommand } from '../../src/fuse/native/binding.ts'
import { isOpenToFileServers, parseMountinfo } from '../../src/fuse/mountinfo.ts'
import { libfuseOptions } from '../../src/fuse/native/options.ts'
import { namesOf } from '../../src/fuse/native/paths.ts'
import { nativeStat, nativeStatfs, timeOf } from '../../src/fuse/native/stat.ts'
import { silentLog } from '../../src/log.ts'

const options = {
  mountpoint: '/m',
  source: 'docmount:acme',
  readOnly: false,
  allowOther: false,
  log: silentLog,
}

describe('libfuse options', () => {
  test('a source cannot bring options of its own, nor be empty or too long', () => {
    const fsname = (source: string): string | undefined =>
      libfuseOptions({ ...options, source })
        .split(',')
        .find((option) => option.startsWith('fsname='))
    expect(libfuseOptions({ ...options, source: 'a,allow_other' }).split(',')).not.toContain('allow_other')
    expect(fsname('a,b\\c\n')).toBe('fsname=abc')
    expect(fsname(',')).toBe('fsname=docmount')
    expect(libfuseOptions({ ...options, source: '\u{1F600}'.repeat(500) }).length).toBeLessThan(500)
  })

  test('nothing is kept by the kernel for more than a second', () => {
    const seconds = [...libfuseOptions(options).matchAll(/_timeout=([\d.]+)/g)].map((match) =>
      Number(match[1]),
    )
    expect(seconds).toHaveLength(3)
    for (const each of seconds) expect(each).toBeLessThanOrEqual(1)
  })

  test('ro and allow_other are there when asked for, hard_remove never', () => {
    expect(libfuseOptions(options)).not.toMatch(/\bro\b|allow_other|hard_remove/)
    expect(libfuseOptions({ ...options, readOnly: true, allowOther: true })).toMatch(/,ro,allow_other$/)
  })
})

describe('numbers of the binding', () => {
  const attributes: Attributes = {
    ino: 7,
    kind: 'file',
    size: 5 * 2 ** 30 + 1,
    mode: 0o644,
    nlink: 1,
    uid: 1,
    gid: 2,
    atime: { sec: 1, nsec: 999_999_999 },
    mtime: { sec: -1, nsec: 500_000_000 },
    ctime: { sec: 0, nsec: 0 },
  }

  test('times are whole milliseconds, never before 1970', () => {
    expect(nativeStat(attributes)).toMatchObject({ atime: 1999, mtime: 0, ctime: 0 })
  })

  test('inode numbers fit 32 bits and are never 0', () => {
    expect(nativeStat({ ...attributes, ino: 2 ** 32 + 7 }).ino).toBe(7)
    expect(nativeStat({ ...attributes, ino: 2 ** 32 }).ino).toBe(2 ** 32 - 1)
  })

  test('a time before 1970 arrives as a huge unsigned number', () => {
    expect(timeOf(1_250)).toEqual({ sec: 1, nsec: 250_000_000 })
    expect(timeOf(2 ** 64 - 4096 * 1000)).toEqual({ sec: -4096, nsec: 0 })
  })

  test('a filesystem of more than 2^32 blocks has larger blocks instead', () => {
    const statistics = {
      blockSizeBytes: 4096,
      blocks: 2 ** 35,
      blocksFree: 2 ** 34,
      files: 2 ** 40,
      filesFree: 3,
      nameMax: 255,
    }
    const { bsize, blocks, bavail, files, ffree } = nativeStatfs(statistics)
    expect(blocks).toBeLessThan(2 ** 32)
    expect(bsize * blocks).toBe(4096 * 2 ** 35)
    expect(bsize * bavail).toBe(4096 * 2 ** 34)
    expect({ files, ffree }).toEqual({ files: 2 ** 32 - 1, ffree: 3 })
  })
})

test('paths fall into names; names that cannot be told apart or are too long are refused', () => {
  expect(namesOf('/')).toEqual([])
  expect(namesOf('/a/b c')).toEqual(['a', 'b c'])
  expect(namesOf(`/${'é'.repeat(127)}`)).toHaveLength(1)
  expect(() => namesOf(`/${'é'.repeat(128)}/x`)).toThrow('ENAMETOOLONG')
  expect(() => namesOf('/a/b\uFFFD')).toThrow('EILSEQ')
})

test('the mount table is read with its escapes and optional fields', () => {
  const text = [
    '36 35 0:45 / /mnt/a\\040b\\134c rw,nosuid master:1 shared:7 - fuse.docmount docmount:x rw,user_id=0',
    '37 35 0:46 / /mnt/plain rw - ext4 /dev/vda rw',
    '38 35 0:47 / /mnt/ann rw - fuse.docmount docmount:y rw,user_id=1000,group_id=1000',
    '39 35 0:48 / /mnt/all rw - fuse.docmount docmount:z rw,user_id=1000,allow_other',
    '',
  ].join('\n')
  const lines = parseMountinfo(text)
  expect(lines.slice(0, 2)).toEqual([
    {
      id: 36,
      device: '0:45',
      mountpoint: '/mnt/a b\\c',
      type: 'fuse.docmount',
      source: 'docmount:x',
      owner: 0,
      isShared: false,
    },
    {
      id: 37,
      device: '0:46',
      mountpoint: '/mnt/plain',
      type: 'ext4',
      source: '/dev/vda',
      owner: undefined,
      isShared: false,
    },
  ])
  expect(lines.filter((line) => isOpenToFileServers(line)).map(({ id }) => id)).toEqual([36, 39])
})

test.each([
  ['ID=debian\nVERSION_ID="12"', '`apt install libfuse2`'],
  ['ID=debian\nVERSION_ID="13"', '`apt install libfuse2t64`'],
  ['ID=ubuntu\nID_LIKE=debian\nVERSION_ID="22.04"', '`apt install libfuse2`'],
  ['ID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"', '`apt install libfuse2t64`'],
  ['ID=fedora\nVERSION_ID=42', '`dnf install fuse-libs`'],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"', '`dnf install fuse-libs`'],
  ['ID=alpine\nVERSION_ID=3.22.0', '`apk add fuse`'],
])('on %j the library comes with %s', (osRelease, command) => {
  expect(libfuseInstallCommand(osRelease)).toBe(command)
})

test('on an unknown system every package is named', () => {
  for (const name of ['libfuse2t64', 'libfuse2', 'fuse-libs', 'apk add fuse'])
    expect(libfuseInstallCommand('')).toContain(name)
})
