// Calls that docs/semantics.md says are refused are refused so, through both drivers, and change nothing.

import { readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive, type MountedDrive } from '../support/mounted.ts'
import { python, whyNoPython } from '../support/python.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

const document = readFileSync(new URL('../../docs/semantics.md', import.meta.url), 'utf8')
const section = document.slice(document.indexOf('## What is refused'), document.indexOf('## What is shown'))
/** Call and errno, the same through both drivers. */
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| call'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, call, errno]) => [call, errno] as const)

/** Each prints the name of its errno; `at` is the drive. */
const calls: Readonly<Record<string, string>> = {
  'a hard link': 'attempt(os.link, "a.txt", "b.txt")',
  'a symbolic link': 'attempt(os.symlink, "a.txt", "b.txt")',
  'a named pipe': 'attempt(os.mkfifo, "pipe.txt")',
  'a device node': 'attempt(os.mknod, "device.txt", 0o20644, os.makedev(1, 3))',
  'a Unix socket': 'attempt(socket.socket(socket.AF_UNIX).bind, "socket.txt")',
  'another owner': 'attempt(os.chown, "a.txt", 4242, -1)',
  RENAME_EXCHANGE: 'call("renameat2", -100, b"a.txt", -100, b"c.txt", 2)',
  RENAME_WHITEOUT: 'call("renameat2", -100, b"a.txt", -100, b"b.txt", 4)',
  O_TMPFILE: 'attempt(os.open, ".", os.O_TMPFILE | os.O_RDWR)',
  'a punched hole': 'call("fallocate64", opened, 3, ctypes.c_long(0), ctypes.c_long(1))',
  'a collapsed range': 'call("fallocate64", opened, 8, ctypes.c_long(0), ctypes.c_long(4096))',
  'an extended attribute': 'attempt(os.setxattr, "a.txt", "user.word", b"value")',
  'an ioctl': 'attempt(fcntl.ioctl, opened, 0x5401, bytes(64))',
  'a type that is not taken': 'attempt(os.open, "archive.zip", os.O_CREAT | os.O_WRONLY)',
  'a trash folder below the root': 'attempt(os.mkdir, "d/.Trash-1000")',
  'a name of 256 bytes': 'attempt(os.mkdir, "x" * 256)',
  'a name that is not UTF-8': 'attempt(os.mkdir, b"\\xff\\xfe")',
}

it('the table names every call that is tried, and no other', () => {
  expect(rows.map(([call]) => call ?? '').toSorted()).toEqual(Object.keys(calls).toSorted())
})

const why = whyNoFuse() ?? whyNoPython

describe.skipIf(why !== undefined).each(['kernel', 'fuse-native'])('through %s', (driver) => {
  let temporary: TemporaryFolder
  let testService: TestService
  let drive: MountedDrive
  const outcomes = new Map<string, string>()

  beforeAll(async () => {
    temporary = await makeTemporaryFolder()
    await chmod(temporary.path, 0o755)
    testService = await startTestService()
    await testService.other.put('/a.txt', 'a')
    await testService.other.put('/c.txt', 'c')
    await testService.other.put('/d/x.txt', 'x')
    drive = await mountDrive({ testService, driver, folder: temporary.path })
    const tried = Object.entries(calls).map(
      ([name, code]) =>
        `print(${JSON.stringify(name)}, '|', str(${code}).replace('ENOTSUP', 'EOPNOTSUPP'), sep='')`,
    )
    const said = await python(
      `
import socket
os.chdir(at)
opened = os.open('a.txt', os.O_RDWR)
${tried.join('\n')}
os.close(opened)
print('left|' + ','.join(sorted(os.listdir('.') + os.listdir('d'))))
`,
      drive.mountpoint,
    )
    for (const line of said) outcomes.set(...(line.split('|') as [string, string]))
  })
  afterAll(async () => {
    await drive?.unmount()
    await testService?.close()
    await temporary?.remove()
  })

  it.each(rows)('%s is refused', (call, errno) => {
    expect(outcomes.get(call ?? '')).toBe(errno)
  })

  it('nothing is changed by it', async () => {
    expect(outcomes.get('left')).toBe('a.txt,c.txt,d,x.txt')
    expect((await testService.other.bytes('/a.txt')).toString()).toBe('a')
    expect((await testService.other.bytes('/c.txt')).toString()).toBe('c')
  })
})
