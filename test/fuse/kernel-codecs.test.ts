// The codecs of the kernel driver, without a kernel.

import { describe, expect, test } from 'vitest'
import { writeAttrOut, writeEntryOut, writeNegativeEntryOut } from '../../src/fuse/kernel/encode.ts'
import { getI64, getU32, getU64, set64, setU32, viewOf } from '../../src/fuse/kernel/fields.ts'
import { answerInit } from '../../src/fuse/kernel/init.ts'
import { invalEntry, invalInode, Notifications, prune } from '../../src/fuse/kernel/notifications.ts'
import { Listing } from '../../src/fuse/kernel/operations/listing.ts'
import { initFlag } from '../../src/fuse/kernel/protocol-flags.ts'
import { opcode } from '../../src/fuse/kernel/protocol-opcodes.ts'
import {
  attr,
  attrOut,
  dirent,
  direntplus,
  entryOut,
  inHeader,
  initIn,
  initOut,
  notifyInvalEntryOut,
  notifyInvalInodeOut,
  notifyPruneOut,
  outHeader,
} from '../../src/fuse/kernel/protocol-structs.ts'
import { Reply } from '../../src/fuse/kernel/reply.ts'
import { Request } from '../../src/fuse/kernel/request.ts'
import { UnheardNames } from '../../src/fuse/kernel/unheard-names.ts'
import type { Entry } from '../../src/fs/operations.ts'

/** A request as the kernel would send it. */
function request(code: number, body: Uint8Array): Request {
  const bytes = Buffer.alloc(inHeader.sizeOf + body.length)
  const view = viewOf(bytes)
  setU32(view, inHeader.len, bytes.length)
  setU32(view, inHeader.opcode, code)
  set64(view, inHeader.unique, 2 ** 40 + 2)
  set64(view, inHeader.nodeid, 7)
  setU32(view, inHeader.uid, 1000)
  setU32(view, inHeader.gid, 100)
  setU32(view, inHeader.pid, 4242)
  bytes.set(body, inHeader.sizeOf)
  return new Request({ bytes, view }, bytes.length, new UnheardNames())
}

const entry: Entry = {
  attributes: {
    ino: 2 ** 40 + 5,
    kind: 'file',
    size: 5 * 2 ** 32 + 1,
    mode: 0o644,
    nlink: 1,
    uid: 1000,
    gid: 100,
    atime: { sec: -1, nsec: 5 },
    mtime: { sec: 1_700_000_000, nsec: 999_999_999 },
    ctime: { sec: 2 ** 33, nsec: 0 },
  },
  entryTtlMs: 1500,
  attributeTtlMs: Infinity,
}

describe('fields', () => {
  test.each([0, 1, -1, 2 ** 32 - 1, 2 ** 32, -(2 ** 32) - 1, 2 ** 53 - 1, -(2 ** 53) + 1])(
    'a 64-bit field keeps %d',
    (value) => {
      const view = viewOf(new Uint8Array(8))
      set64(view, 0, value)
      expect(view.getBigInt64(0, true)).toBe(BigInt(value))
      expect(getI64(view, 0)).toBe(value)
    },
  )
})

describe('a request', () => {
  test('tells who asks and about what', () => {
    const { unique, nodeid, uid, gid, pid } = request(opcode.getattr, new Uint8Array())
    expect({ unique, nodeid, uid, gid, pid }).toEqual({
      unique: 2 ** 40 + 2,
      nodeid: 7,
      uid: 1000,
      gid: 100,
      pid: 4242,
    })
  })

  test('holds several names one after the other', () => {
    const two = request(opcode.rename, Buffer.from('12345678ä.txt\0b\0'))
    expect(two.knownName(8)).toBe('ä.txt')
    expect(two.newName(two.nameAfter(8))).toBe('b')
  })

  test('keeps a signal that was aborted before anybody asked for it', () => {
    const interrupted = request(opcode.getattr, new Uint8Array())
    interrupted.abort()
    expect(interrupted.signal.aborted).toBe(true)
  })
})

describe('a name', () => {
  const nameOf = (bytes: Uint8Array): string =>
    request(opcode.mkdir, Buffer.concat([bytes, Buffer.of(0)])).newName(0)

  test.each(['a', 'ünïcödé', '😀', 'e\u0301', '\u{FFFD}', 'x'.repeat(255), 'ä'.repeat(127)])(
    'of valid UTF-8 is kept: %s',
    (name) => {
      expect(nameOf(Buffer.from(name))).toBe(name)
    },
  )

  test.each([
    ['lone byte', Buffer.of(0x61, 0xff)],
    ['cut sequence', Buffer.of(0xe2, 0x82)],
    ['surrogate', Buffer.of(0xed, 0xa0, 0x80)],
    ['overlong slash', Buffer.of(0xc0, 0xaf)],
    ['beside a true U+FFFD', Buffer.concat([Buffer.from('\u{FFFD}'), Buffer.of(0xff)])],
  ])('that is not UTF-8 is refused with EILSEQ: %s', (_, bytes) => {
    expect(() => nameOf(bytes)).toThrow(expect.objectContaining({ code: 'EILSEQ' }))
  })

  test('that is not UTF-8 cannot be found: ENOENT', () => {
    const asked = request(opcode.lookup, Buffer.of(0xff, 0))
    expect(() => asked.knownName(0)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })

  test('of 256 bytes is refused with ENAMETOOLONG', () => {
    const tooLong = Buffer.from('ä'.repeat(128))
    expect(() => nameOf(tooLong)).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }))
  })
})

describe('an entry', () => {
  test('carries node, times to live and attributes', () => {
    const view = viewOf(new Uint8Array(entryOut.sizeOf))
    writeEntryOut(view, 0, entry)
    expect(getU64(view, entryOut.nodeid)).toBe(2 ** 40 + 5)
    expect(getU64(view, entryOut.entryValid)).toBe(1)
    expect(getU32(view, entryOut.entryValidNsec)).toBe(500_000_000)
    expect(getU64(view, entryOut.attrValid)).toBe(365 * 24 * 3600)
    expect(getU32(view, entryOut.attr + attr.mode)).toBe(0o100644)
    expect(getU64(view, entryOut.attr + attr.size)).toBe(5 * 2 ** 32 + 1)
    expect(getU64(view, entryOut.attr + attr.blocks)).toBe(Math.ceil((5 * 2 ** 32 + 1) / 512))
  })

  test('keeps times before 1970, after 2106 and to the nanosecond', () => {
    const view = viewOf(new Uint8Array(attrOut.sizeOf))
    writeAttrOut(view, 0, entry)
    expect(getI64(view, attrOut.attr + attr.atime)).toBe(-1)
    expect(getU32(view, attrOut.attr + attr.mtimensec)).toBe(999_999_999)
    expect(getI64(view, attrOut.attr + attr.ctime)).toBe(2 ** 33)
  })

  test('that is negative has node id 0 and a time to live', () => {
    const view = viewOf(new Uint8Array(entryOut.sizeOf).fill(0xff))
    writeNegativeEntryOut(view, 0, 2000)
    expect(getU64(view, entryOut.nodeid)).toBe(0)
    expect(getU64(view, entryOut.entryValid)).toBe(2)
    expect(getU64(view, entryOut.attrValid)).toBe(0)
  })
})

describe('a listing', () => {
  const child = (name: string) => ({ name, ino: 9, kind: 'folder' as const, entry: () => entry })

  test('packs entries at multiples of 8 bytes', () => {
    const listing = new Listing(4096, false, () => {})
    listing.addOwn('.', 1, 1)
    listing.add(child('ä'), 5)
    const view = viewOf(listing.bytes)
    const second = outHeader.sizeOf + 32
    expect(listing.length).toBe(second + 32)
    expect(getU64(view, second + dirent.off)).toBe(5)
    expect(getU32(view, second + dirent.namelen)).toBe(2)
    expect(getU32(view, second + dirent.type)).toBe(4)
    expect(listing.bytes.toString('utf8', second + dirent.sizeOf, second + dirent.sizeOf + 2)).toBe('ä')
  })

  test('remembers each node it packed with attributes, and no other', () => {
    const remembered: number[] = []
    const listing = new Listing(400, true, (ino) => remembered.push(ino))
    expect(listing.addOwn('.', 1, 1)).toBe(true)
    expect(listing.add(child('a'), 3)).toBe(true)
    expect(listing.add(child('b'), 4)).toBe(false)
    expect(remembered).toEqual([9])
    expect(listing.remembered).toEqual([9])
    // Node id 0: `.` is no new reference.
    expect(getU64(viewOf(listing.bytes), outHeader.sizeOf)).toBe(0)
    expect(getU64(viewOf(listing.bytes), outHeader.sizeOf + 160)).toBe(entry.attributes.ino)
    expect(getU32(viewOf(listing.bytes), outHeader.sizeOf + 160 + direntplus.dirent + dirent.namelen)).toBe(1)
  })
})

describe('a reply', () => {
  test('copies short chunks and sends long ones as they are', () => {
    const sent: Uint8Array[][] = []
    const reply = new Reply({
      send: (message, length) => sent.push([message.slice(0, length)]) > 0,
      sendAll: (parts) => sent.push(parts.map((part) => (part.length > 16 ? part : part.slice()))) > 0,
    })
    const long = new Uint8Array(100_000)
    reply.unique = 6
    reply.chunks([Buffer.from('ab'), Buffer.from('c')])
    reply.chunks([long])
    expect(Buffer.from(sent[0]?.[0]?.subarray(16) ?? []).toString()).toBe('abc')
    expect(sent[1]?.[1]).toBe(long)
    expect(getU32(viewOf(sent[1]?.[0] ?? long), outHeader.len)).toBe(100_016)
    expect(getU64(viewOf(sent[1]?.[0] ?? long), outHeader.unique)).toBe(6)
  })
})

describe('INIT', () => {
  function answer(major: number, minor: number, offered: number): { outcome: string; view: DataView } {
    const body = new Uint8Array(initIn.sizeOf)
    setU32(viewOf(body), initIn.major, major)
    setU32(viewOf(body), initIn.minor, minor)
    setU32(viewOf(body), initIn.maxReadahead, 131_072)
    setU32(viewOf(body), initIn.flags, offered)
    const view = viewOf(new Uint8Array(initOut.sizeOf).fill(0xff))
    return { outcome: answerInit(request(opcode.init, body), view), view }
  }

  test('takes only what the kernel offers, and neither writeback cache nor locks', () => {
    const { outcome, view } = answer(
      7,
      99,
      initFlag.asyncRead | initFlag.writebackCache | initFlag.posixLocks,
    )
    expect(outcome).toBe('agreed')
    expect(getU32(view, initOut.flags)).toBe(initFlag.asyncRead)
    expect(getU32(view, initOut.minor)).toBe(45)
    expect(getU32(view, initOut.maxWrite)).toBe(1024 * 1024)
    expect(getU32(view, initOut.flags2)).toBe(0)
  })

  test('with a newer major asks the kernel to speak ours', () => {
    expect(answer(8, 0, 0).outcome).toBe('again')
  })

  test('of a kernel before 5.4 is refused', () => {
    expect(answer(7, 30, 0).outcome).toBe('too-old')
  })
})

describe('a notification', () => {
  test('of content names the node and all its bytes; of attributes no byte', () => {
    const content = viewOf(invalInode(9, 0))
    const attributes = viewOf(invalInode(9, -1))
    expect(getU64(content, outHeader.unique)).toBe(0)
    expect(getU32(content, outHeader.error)).toBe(2)
    expect(getU64(content, outHeader.sizeOf + notifyInvalInodeOut.ino)).toBe(9)
    expect(getI64(content, outHeader.sizeOf + notifyInvalInodeOut.off)).toBe(0)
    expect(getI64(attributes, outHeader.sizeOf + notifyInvalInodeOut.off)).toBe(-1)
  })

  test('of a name counts its bytes without the NUL that ends it', () => {
    const message = invalEntry(1, 'ä')
    expect(getU32(viewOf(message), outHeader.sizeOf + notifyInvalEntryOut.namelen)).toBe(2)
    expect(getU32(viewOf(message), outHeader.len)).toBe(message.length)
    expect(message.length).toBe(outHeader.sizeOf + notifyInvalEntryOut.sizeOf + 3)
  })

  test('waits for the one before it, and is sent once however often it was asked for while it waited', async () => {
    const sent: Uint8Array[] = []
    let taken = (_isUnderstood: boolean): void => {}
    const notifications = new Notifications((message) => {
      sent.push(message)
      return new Promise((resolve) => (taken = resolve))
    })
    await notifications.heard()
    notifications.contentChanged(2)
    notifications.entryChanged(1, 'a')
    notifications.entryChanged(1, 'a')
    notifications.entryChanged(1, 'b')
    let isHeard = false
    const heard = notifications.heard().then(() => (isHeard = true))
    // Under way is not heard: what changes meanwhile is said anew.
    await expect.poll(() => sent.length).toBe(1)
    notifications.contentChanged(2)
    const expected = [invalInode(2, 0), invalEntry(1, 'a'), invalEntry(1, 'b'), invalInode(2, 0)]
    for (const count of [2, 3]) {
      taken(true)
      await expect.poll(() => sent.length).toBe(count)
    }
    expect(isHeard).toBe(false)
    taken(true)
    await heard
    taken(false)
    await notifications.heard()
    expect(sent).toEqual(expected)
  })

  test('of nodes that may go is one message; to a kernel that does not understand it, the names of the files', async () => {
    const sent: Uint8Array[] = []
    const answers = [true, false]
    const notifications = new Notifications(async (message) => {
      sent.push(message)
      return answers.shift() ?? true
    })
    const nodes = [
      { ino: 7, kind: 'file', parent: 1, name: 'a' },
      { ino: 8, kind: 'folder', parent: 1, name: 'd' },
      { ino: 9, kind: 'file', parent: 8, name: 'b' },
    ] as const
    await notifications.dropUnused(nodes)
    expect(sent.splice(0)).toEqual([prune([7, 8, 9])])
    await notifications.dropUnused(nodes)
    expect(sent.splice(0)).toEqual([prune([7, 8, 9]), invalEntry(1, 'a'), invalEntry(8, 'b')])
    await notifications.dropUnused(nodes)
    expect(sent).toEqual([invalEntry(1, 'a'), invalEntry(8, 'b')])
  })

  test.each([true, false])(
    'of the same nodes, asked for again while it is under way, is heard by both (understood: %s)',
    async (isUnderstood) => {
      const sent: Uint8Array[] = []
      const notifications = new Notifications(async (message) => {
        sent.push(message)
        return isUnderstood
      })
      const nodes = [{ ino: 7, kind: 'file', parent: 1, name: 'a' }] as const
      const more = [...nodes, { ino: 9, kind: 'file', parent: 1, name: 'b' }] as const
      await Promise.all([
        notifications.dropUnused(nodes),
        notifications.dropUnused(more),
        notifications.dropUnused(nodes),
      ])
      expect(sent).toEqual(
        isUnderstood
          ? [prune([7]), prune([7, 9]), prune([7])]
          : [prune([7]), ...['a', 'a', 'b', 'a'].map((name) => invalEntry(1, name))],
      )
    },
  )

  test('of nodes that may go counts them and names each', () => {
    const view = viewOf(prune([7, 2 ** 40]))
    expect(getU32(view, outHeader.error)).toBe(9)
    expect(getU32(view, outHeader.sizeOf + notifyPruneOut.count)).toBe(2)
    expect(getU64(view, outHeader.sizeOf + notifyPruneOut.sizeOf)).toBe(7)
    expect(getU64(view, outHeader.sizeOf + notifyPruneOut.sizeOf + 8)).toBe(2 ** 40)
    expect(view.byteLength).toBe(outHeader.sizeOf + notifyPruneOut.sizeOf + 16)
  })
})
