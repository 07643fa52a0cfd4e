// `mount --attributes`: the states of documents as extended attributes of a real drive.

import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inDrive, startDesk, type Desk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { python, whyNoPython } from '../support/python.ts'
import { isInstalled, run } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
})
afterEach(() => desk.close())

const get = `
for name in sys.argv[2:] or ['state', 'here', 'offline', 'sent', 'problem']:
    print(name, attempt(os.getxattr, at, 'user.docmount.' + name))
`
const attributes = (path: string): Promise<string[]> => python(get, path)

describe.skipIf(whyNoFuse() !== undefined || whyNoPython !== undefined)('with --attributes', () => {
  test('a document tells its state, and its folder the worst', async () => {
    await desk.testService.other.put('/folder/stored.txt', 'stored')
    const drive = await desk.mount('drive', '--attributes')
    const folder = join(drive, 'folder')
    expect(await attributes(join(folder, 'stored.txt'))).toEqual([
      "state b'stored'",
      "here b'no'",
      "offline b'0'",
      'sent ENODATA',
      'problem ENODATA',
    ])
    desk.testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT' })
    await desk.save(join(folder, 'refused.txt'), 'four')
    const refused = ["state b'refused'", "here b'cached'", "offline b'0'", "sent b'0/4'"]
    expect((await attributes(join(folder, 'refused.txt'))).slice(0, 4)).toEqual(refused)
    expect((await attributes(folder))[0]).toBe("state b'refused'")
    expect((await attributes(drive))[4]).toMatch(/^problem b'PUT .*413/)
  })

  test('nobody carries one along, and those of others are not supported', async () => {
    await desk.testService.other.put('/a.txt', 'a')
    const drive = await desk.mount('drive', '--attributes')
    const said = await python(
      `
print(attempt(os.listxattr, at) in ([], 'ENOTSUP'))
for name in ('user.x', 'security.selinux', 'security.capability', 'system.posix_acl_access', 'user.docmount'):
    print(attempt(os.getxattr, at, name))
print(*(attempt(os.getxattr, at, 'user.docmount.' + name) for name in ('constructor', '__proto__', 'toString')))
print(attempt(os.setxattr, at, 'user.x', b'1'), attempt(os.removexattr, at, 'user.x'))
print(attempt(os.setxattr, at, 'user.docmount.state', b'stored'), attempt(os.setxattr, at, 'user.docmount.offline', b'yes'))
libc.getxattr.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]
room = ctypes.create_string_buffer(3)
print(call('getxattr', at.encode(), b'user.docmount.state', room, 3))
`,
      join(drive, 'a.txt'),
    )
    expect(said).toEqual([
      'True',
      ...Array<string>(5).fill('ENOTSUP'),
      'ENODATA ENODATA ENODATA',
      'ENOTSUP ENOTSUP',
      'EPERM EINVAL',
      'ERANGE',
    ])
    const copies = join(desk.home, 'copies')
    await run('mkdir', [copies])
    const commands = [
      `cp -a "$1/a.txt" "$2/"`,
      `tar --xattrs -C "$1" -cf - a.txt | tar --xattrs -C "$2" -xf -`,
    ]
    if (isInstalled('rsync')) commands.push(`rsync -aX "$1/a.txt" "$2/"`)
    for (const command of commands)
      expect(await inDrive('sh', '-c', command, 'sh', drive, copies)).toMatchObject({ code: 0, stderr: '' })
    expect(await python('print(os.listxattr(at))', join(copies, 'a.txt'))).toEqual(['[]'])
  })

  test('setting user.docmount.offline pins, and removing it ends the pin', async () => {
    await desk.testService.other.put('/folder/a.txt', 'a')
    const drive = await desk.mount('drive', '--attributes')
    const folder = join(drive, 'folder')
    const set = (value: string): Promise<string[]> =>
      python(`print(attempt(os.setxattr, at, 'user.docmount.offline', b'${value}'))`, folder)
    expect(await set('1')).toEqual(['None'])
    await waitUntil(
      'the document',
      async () => (await attributes(join(folder, 'a.txt')))[1] === "here b'pinned'",
    )
    expect((await desk.docmount('pins', drive, '--json')).stdout).toContain('"path": "/folder"')
    expect(
      await python(`print(attempt(os.removexattr, at, 'user.docmount.offline'))`, join(folder, 'a.txt')),
    ).toEqual(['EBUSY'])
    const flagged = `
for name in ('offline', 'state', 'problem', 'other'):
    for flag in (os.XATTR_CREATE, os.XATTR_REPLACE):
        print(name, attempt(os.setxattr, at, 'user.docmount.' + name, b'0', flag))
print(attempt(os.setxattr, at, 'user.x', b'0', os.XATTR_REPLACE))
`
    expect(await python(flagged, folder)).toEqual([
      'offline EEXIST',
      'offline None',
      'state EEXIST',
      'state EPERM',
      'problem EPERM',
      'problem ENODATA',
      'other EPERM',
      'other ENODATA',
      'ENOTSUP',
    ])
    expect((await attributes(folder))[2]).toBe("offline b'0'")
    expect(await set('1')).toEqual(['None'])
    expect(await set('0')).toEqual(['None'])
    expect((await attributes(folder))[2]).toBe("offline b'0'")
    expect((await desk.docmount('pins', drive, '--json')).stdout.trim()).toBe('[]')
  })
})

describe.skipIf(whyNoFuse() !== undefined || whyNoPython !== undefined)('without it', () => {
  test('the kernel asks for none', async () => {
    const drive = await desk.mount('drive')
    await desk.save(join(drive, 'a.txt'), 'a')
    expect((await attributes(join(drive, 'a.txt')))[0]).toBe('state ENOTSUP')
  })
})
