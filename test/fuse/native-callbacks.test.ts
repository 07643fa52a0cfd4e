// The fuse-native driver's callbacks called as libfuse calls them, where the kernel cannot be made to.

import { beforeEach, describe, expect, test } from 'vitest'
import { ErrnoError } from '../../src/errno-error.ts'
import { rootIno, type Entry, type NegativeEntry, type RenameFlags } from '../../src/fs/operations.ts'
import { nativeCallbacks, type NativeCallbacks } from '../../src/fuse/native/callbacks.ts'
import { NativeSession } from '../../src/fuse/native/session.ts'
import { silentLog } from '../../src/log.ts'
import { MemoryFileSystem } from '../support/memory-file-system.ts'
import { waitUntil } from '../support/wait-until.ts'

const hiddenName = '/.fuse_hidden0000000200000001'

/** Refuses renames of one name to an ordinary one, as a service may. */
class Refusing extends MemoryFileSystem {
  refused = ''
  /** Called while a lookup is on its way. */
  duringLookup: (() => void) | undefined

  override lookup(parent: number, name: string): Entry | NegativeEntry {
    const answer = super.lookup(parent, name)
    const during = this.duringLookup
    this.duringLookup = undefined
    during?.()
    return answer
  }

  override rename(
    parent: number,
    name: string,
    newParent: number,
    newName: string,
    flags: RenameFlags,
  ): void {
    if (name === this.refused) throw new ErrnoError('EACCES', 'the service refuses')
    super.rename(parent, name, newParent, newName, flags)
  }
}

let fileSystem: Refusing
let session: NativeSession
let callbacks: NativeCallbacks

beforeEach(() => {
  fileSystem = new Refusing()
  session = new NativeSession(fileSystem, silentLog)
  callbacks = nativeCallbacks(session)
})

/** Values with which one callback replies. */
function answer(call: (reply: (...values: unknown[]) => void) => void): Promise<unknown[]> {
  return new Promise((resolve) => call((...values) => resolve(values)))
}

const renamed = (from: string, to: string): Promise<unknown[]> =>
  answer((reply) => callbacks.rename(from, to, reply))
const content = (path: string): string | undefined => {
  const node = fileSystem.find(path)
  return node && Buffer.concat(node.bytes.read(0, 100)).toString()
}

describe('an open file that libfuse hides', () => {
  beforeEach(() => {
    fileSystem.put('/target', Buffer.from('old'))
    fileSystem.put('/source', Buffer.from('new'))
    fileSystem.refused = 'source'
  })

  test('for a rename that then fails gets its name back', async () => {
    expect(await renamed('/target', hiddenName)).toEqual([0])
    expect(await renamed('/source', '/target')).toEqual([-13])
    expect(content('/target')).toBe('old')
    expect(content('/source')).toBe('new')
    expect(content(hiddenName)).toBeUndefined()
  })

  test('because it was deleted stays deleted when a later rename to its name fails', async () => {
    expect(await renamed('/target', hiddenName)).toEqual([0])
    // The kernel looks the target of a rename up first.
    expect((await answer((reply) => callbacks.getattr('/target', reply)))[0]).toBe(-2)
    expect(await renamed('/source', '/target')).toEqual([-13])
    expect(content('/target')).toBeUndefined()
  })

  test('is not listed', async () => {
    await renamed('/target', hiddenName)
    const [errno, names] = await answer((reply) => callbacks.readdir('/', reply))
    expect(errno).toBe(0)
    expect(names).toEqual(['.', '..', 'source'])
  })
})

test('an operation that throws at once is answered with its errno', async () => {
  fileSystem.getattr = () => {
    throw new TypeError('a bug')
  }
  expect(await answer((reply) => callbacks.getattr('/', reply))).toEqual([-5])
})

test('an answer that libfuse cannot take ends nothing', async () => {
  callbacks.getattr('/', () => {
    throw new Error('the binding refused')
  })
  expect((await answer((reply) => callbacks.getattr('/', reply)))[0]).toBe(0)
})

test('fsync of a folder is for the filesystem to answer', async () => {
  fileSystem.fsyncdir = () => {
    throw new ErrnoError('ENOSPC', 'the journal is full')
  }
  expect(await answer((reply) => callbacks.fsyncdir('/', 0, 0, reply))).toEqual([-28])
})

test('a handle nobody opened is EBADF', async () => {
  expect(await answer((reply) => callbacks.fgetattr('/x', 77, reply))).toEqual([-9])
})

test('an existing file at create makes the kernel look again', async () => {
  fileSystem.put('/theirs', Buffer.from('x'))
  expect(await answer((reply) => callbacks.create('/theirs', 0o644, reply))).toEqual([-116])
})

test('a name that changed while it was looked up is not remembered', async () => {
  fileSystem.put('/a', Buffer.from('x'))
  fileSystem.duringLookup = () => session.names.drop(rootIno, 'a')
  expect((await answer((reply) => callbacks.getattr('/a', reply)))[0]).toBe(0)
  expect(session.names.size).toBe(0)
  await waitUntil('the request to end', () => fileSystem.rememberedNodes === 0)
})

test('what another door changed is looked up afresh', async () => {
  fileSystem.put('/a', Buffer.from('x'))
  await answer((reply) => callbacks.getattr('/a', reply))
  fileSystem.unlink(rootIno, 'a')
  session.notifier.entryChanged(rootIno, 'a')
  expect((await answer((reply) => callbacks.getattr('/a', reply)))[0]).toBe(-2)
  expect(fileSystem.rememberedNodes).toBe(0)
})

test('names beyond the cache’s size are given back, oldest first, and the end gives back the rest', async () => {
  for (let index = 0; index < 10_050; index++) fileSystem.put(`/${index}`, Buffer.alloc(0))
  for (let index = 0; index < 10_050; index++) await answer((reply) => callbacks.getattr(`/${index}`, reply))
  expect(fileSystem.rememberedNodes).toBe(10_000)
  await answer((reply) => callbacks.open('/10049', 0, reply))
  expect(fileSystem.openHandles).toBe(1)
  await session.end()
  expect(fileSystem.rememberedNodes).toBe(0)
  expect(fileSystem.openHandles).toBe(0)
})
