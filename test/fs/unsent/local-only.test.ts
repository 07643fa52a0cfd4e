// Files that are on this machine only do not stay so unsaid: left alone, each is sent or named.

import { realWorld } from '../../../src/world/world.ts'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { describe, expect, it } from 'vitest'

import { rootIno } from '../../../src/fs/operations.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import type { OpenFile } from '../../support/door.ts'
import { heldSyncs } from '../../support/held-syncs.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import { serviceTexts } from '../../support/trees.ts'
import { thisProcess } from '../../support/object-file.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** Short enough for a test, long enough for the calls of an editor. */
const quick = { temporaryMs: 300 }

const held = ({ testService }: HeldDrive): Promise<Record<string, string | undefined>> =>
  serviceTexts(testService.other)

/** The drive gets there automatically: the test does nothing to it. */
async function becomes(drive: HeldDrive, wanted: Record<string, string | undefined>): Promise<void> {
  let found: Record<string, string | undefined> = {}
  const isSo = async (): Promise<boolean> => {
    // Between a replace's two calls a document is listed and cannot be read.
    found = await held(drive).catch(() => ({}))
    return isDeepStrictEqual(found, wanted)
  }
  await waitUntil('the service to hold it', isSo).catch(() => expect(found).toEqual(wanted))
  await waitUntil('nothing to be unsent', () => drive.fileSystem().status().unsent.length === 0)
}

describe('a temporary file that is left alone', () => {
  it('is a document: it is sent, under its name and as what it is', async () => {
    await using drive = await openHeld({}, quick)
    for (const name of ['a.tmp', 'film.pdf.part', 'a.txt.download'])
      await drive.calls().writeFile(`/${name}`, '%PDF-1.4\n')
    await becomes(drive, {
      '/a.tmp': '%PDF-1.4\n',
      '/film.pdf.part': '%PDF-1.4\n',
      '/a.txt.download': '%PDF-1.4\n',
    })
    const entry = await drive.testService.other.get('/film.pdf.part')
    expect(entry).toMatchObject({ mimetype: 'application/pdf' })
    expect(drive.fileSystem().status()).toMatchObject({ scratchFiles: 0, localOnly: [] })
  })

  it('waits while a program has it open, and is named meanwhile', async () => {
    await using drive = await openHeld({}, quick)
    const file = await drive.calls().open('/a.txt.part', 'w')
    await file.write('half', 0)
    await waitUntil('it to be named', () => drive.fileSystem().status().localOnly.length === 1)
    expect(drive.fileSystem().status().localOnly).toMatchObject([
      { path: '/a.txt.part', why: 'open in a program' },
    ])
    expect(await held(drive)).toEqual({})
    await file.write('whole', 0)
    await file.close()
    await becomes(drive, { '/a.txt.part': 'whole' })
  })

  it('stays and is named where the service takes no such type, as its close said', async () => {
    await using drive = await openHeld({}, quick)
    const saving = drive.calls().writeFile('/a.tmp', Buffer.from([9, 1, 2, 3, 0xff]))
    await expect(saving).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await waitUntil('it to be named', () =>
      /takes no/.test(drive.fileSystem().status().localOnly[0]?.why ?? ''),
    )
    expect(await held(drive)).toEqual({})
    expect((await drive.calls().readFile('/a.tmp')).length).toBe(5)
  })

  it.each([
    ['.a.txt.swp', 'belongs to the program that made it'],
    ['.~lock.a.txt#', 'belongs to the program that made it'],
    ['.goutputstream-AB12CD', 'belongs to the program that made it'],
    ['a.txt~', 'a backup of a.txt'],
  ])('%s stays, and is named: %s', async (name, why) => {
    await using drive = await openHeld({ '/a.txt': 'a' }, quick)
    await drive.calls().writeFile(`/${name}`, 'x')
    await waitUntil('it to be named', () => drive.fileSystem().status().localOnly.length === 1)
    expect(drive.fileSystem().status().localOnly).toEqual([{ path: `/${name}`, bytes: 1, why }])
    expect(await held(drive)).toEqual({ '/a.txt': 'a' })
  })

  it('goes on from where it was after a restart', async () => {
    await using drive = await openHeld({}, quick)
    await drive.calls().writeFile('/a.tmp', 'a')
    await drive.restart()
    await becomes(drive, { '/a.tmp': 'a' })
  })

  it('is sent when the service is back', async () => {
    await using drive = await openHeld({}, quick)
    await drive.calls().readdir('/')
    await drive.testService.stop()
    await drive.calls().writeFile('/a.tmp', 'a')
    await waitUntil('it to be on its way', () => drive.fileSystem().unsent('/a.tmp').length === 1)
    await drive.testService.start()
    await becomes(drive, { '/a.tmp': 'a' })
  })

  it('once it was sent it is a document for good', async () => {
    await using drive = await openHeld({}, quick)
    await drive.calls().writeFile('/a.tmp', 'a')
    await becomes(drive, { '/a.tmp': 'a' })
    await drive.calls().writeFile('/a.tmp', 'b')
    await becomes(drive, { '/a.tmp': 'b' })
    await drive.calls().writeFile('/c.tmp', 'c')
    await drive.calls().rename('/c.tmp', '/a.tmp')
    await becomes(drive, { '/a.tmp': 'c' })
    await drive.calls().unlink('/a.tmp')
    await drive.calls().writeFile('/a.tmp', 'd')
    await becomes(drive, { '/a.tmp': 'd' })
  })
})

describe('a name that tells no type', () => {
  const names = [
    'St.Gallen', '2026.Q1', 'contract.signed', 'Prof. Smith', 'No. 12', 'b.csv_old', 'app.log-20261126', 'report.pdf.asc', 'bank.sta',
    'order.edi', 'photo.xmp', 'report.pdf.1', 'trailing dot.', 'a.mt940', 'a.ofx', 'a.qif', 'report.pdf?token=a.b', 'inbox.mbox',
    '1764147600.M1P2.host:2,S', '.profile', 'yarn.lock', 'server.key', 'plan.old', 'config.dot', 'x.bin',
  ] // prettier-ignore

  it('is stored by its content, also beside the document that it is named after', async () => {
    const given = { '/report.pdf': '%PDF-1.4\n', '/b.csv': 'a,b\n', '/app.log': 'line\n' }
    await using drive = await openHeld(given, quick)
    await drive.calls().readdir('/')
    for (const name of names) await drive.calls().writeFile(`/${name}`, `${name}\n`)
    await drive.calls().writeFile('/scan.signed', '%PDF-1.4\n')
    const texts = Object.fromEntries(names.map((name) => [`/${name}`, `${name}\n`]))
    await becomes(drive, { ...given, ...texts, '/scan.signed': '%PDF-1.4\n' })
    for (const name of names)
      expect(await drive.testService.other.get(`/${name}`), name).toMatchObject({ mimetype: 'text/plain' })
    expect(await drive.testService.other.get('/scan.signed')).toMatchObject({ mimetype: 'application/pdf' })
  })

  it('may be given to a document: the service moves it as what it is', async () => {
    const moved = names.filter((name) => !name.startsWith('report.pdf'))
    const given = Object.fromEntries(moved.map((_, index) => [`/${index}.pdf`, `${index}`]))
    await using drive = await openHeld(given)
    await drive.calls().readdir('/')
    for (const [index, name] of moved.entries()) await drive.calls().rename(`/${index}.pdf`, `/${name}`)
    await becomes(drive, Object.fromEntries(moved.map((name, index) => [`/${name}`, `${index}`])))
    for (const name of moved)
      expect(await drive.testService.other.get(`/${name}`), name).toMatchObject({
        mimetype: 'application/pdf',
      })
  })

  it('is decided by who waits, and by who unmounts', async () => {
    await using drive = await openHeld()
    await drive.calls().writeFile('/contract.signed', 'signed')
    await drive.calls().writeFile('/in.progress', 'begun')
    await drive.fileSystem().wait('/contract.signed', { timeoutMs: 20_000 })
    expect(await held(drive)).toEqual({ '/contract.signed': 'signed' })
    await drive.drain()
    expect(await held(drive)).toEqual({ '/contract.signed': 'signed', '/in.progress': 'begun' })
  })

  it('is told of, at once and once, where it can be no document', async () => {
    await using drive = await openHeld({ '/photo.jpg': 'x' }, quick)
    await drive.calls().readdir('/')
    const noise = Buffer.alloc(70_000, Buffer.from([7, 1, 2, 3]))
    const file = await drive.calls().open('/dump.bin', 'w')
    await file.write(noise, 0)
    await expect(file.write('more', noise.length)).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await expect(file.close()).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await waitUntil('it to be named', () =>
      /takes no/.test(drive.fileSystem().status().localOnly[0]?.why ?? ''),
    )
    expect(drive.fileSystem().status().localOnly).toMatchObject([{ path: '/dump.bin', bytes: noise.length }])
    expect(drive.fileSystem().status().refusedNames).toEqual([])
    // On its way to a document, perhaps.
    await drive.calls().writeFile('/photo.jpg.bin', noise)
    const temporary = await drive.calls().open('/other.bin', 'wx+', 0o600)
    await temporary.write(noise, 0)
    await temporary.write('more', noise.length)
    await temporary.close()
    // An archive is told by its end, or by its name.
    const zip = Buffer.concat([Buffer.from('PK\x03\x04'), noise])
    const archive = await drive.calls().open('/archive.zip.part', 'w')
    await archive.write(zip, 0)
    await expect(archive.write('more', zip.length)).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    await expect(drive.calls().rename('/other.bin', '/another.bin')).rejects.toMatchObject({
      code: 'EOPNOTSUPP',
    })
    expect(await held(drive)).toEqual({ '/photo.jpg': 'x' })
  })
})

describe('half a save', () => {
  const half = 'half a JPEG'
  const why = 'its program has not finished it'

  /** Writes half of it, and is killed, as far as the drive can tell. */
  async function writeKilled(
    drive: HeldDrive,
    name: string,
    [exclusive, mode]: readonly [boolean, number],
  ): Promise<void> {
    const operations = drive.fileSystem()
    const flags = { read: exclusive, write: true, truncate: false }
    const { entry, opened } = await operations.create(
      rootIno,
      name,
      { mode, flags, exclusive },
      thisProcess(),
    )
    await operations.write(opened.fh, 0, Buffer.from(half), thisProcess())
    await operations.flush(opened.fh, { ...thisProcess(), isDying: true })
    await operations.release(opened.fh)
    operations.forget(entry.attributes.ino, 1)
  }

  it.each([
    ['photo.jpg_exiftool_tmp', [false, 0o666]],
    ['photo.jpg.new', [true, 0o666]],
    ['.xdp-photo.jpg.qevt0M', [true, 0o600]],
    // Beside nothing, but made as a temporary file.
    ['.other.jpg.Xa3b9Z', [true, 0o600]],
    ['tmpy8g_pan0', [true, 0o600]],
  ] as const)('is named and not sent, also after a restart: %s', async (name, how) => {
    await using drive = await openHeld({ '/photo.jpg': 'whole' }, quick)
    await drive.calls().readdir('/')
    await writeKilled(drive, name, how)
    for (const restarts of [false, true]) {
      if (restarts) await drive.restartKilled()
      await drive.calls().readdir('/')
      await drive.drain()
      await waitUntil('it to be named', () => drive.fileSystem().status().localOnly.length === 1)
      expect(drive.fileSystem().status().localOnly).toEqual([{ path: `/${name}`, bytes: half.length, why }])
      expect(await drive.fileSystem().place(`/${name}`)).toMatchObject({ state: 'here', why })
      expect(await held(drive)).toEqual({ '/photo.jpg': 'whole' })
    }
    // Somebody wants it.
    await drive.calls().rename(`/${name}`, '/kept.jpg')
    await becomes(drive, { '/photo.jpg': 'whole', '/kept.jpg': half })
  })

  it('is a document where it is named after none: a log that was cut off', async () => {
    await using drive = await openHeld({}, quick)
    await writeKilled(drive, 'app.log-20261126', [false, 0o666])
    await becomes(drive, { '/app.log-20261126': half })
  })

  it('is whole once it was written again and closed', async () => {
    await using drive = await openHeld({ '/photo.jpg': 'whole' }, quick)
    await drive.calls().readdir('/')
    await writeKilled(drive, 'photo.jpg_original', [false, 0o666])
    await drive.calls().writeFile('/photo.jpg_original', 'as it was')
    await becomes(drive, { '/photo.jpg': 'whole', '/photo.jpg_original': 'as it was' })
  })
})

const saved = 'as it was saved'

/** It was saved and closed; half of the next save is written. */
async function halfWritten(drive: HeldDrive, path: string): Promise<OpenFile> {
  await drive.calls().writeFile(path, saved)
  const file = await drive.calls().open(path, 'r+')
  await file.truncate(0)
  await file.write('half', 0)
  return file
}

describe('what is on this machine only and is being written again when the drive is killed', () => {
  it.each(['/b.tmp', '/a.txt.part', '/a.txt~'])('is as it was saved: %s', async (path) => {
    await using drive = await openHeld({ '/a.txt': 'a' }, quick)
    await drive.calls().readdir('/')
    await halfWritten(drive, path)
    await drive.restartKilled()
    expect((await drive.calls().readFile(path)).toString()).toBe(saved)
    // A file that was held back by its document is sent without it.
    await drive.calls().unlink('/a.txt')
    await becomes(drive, { [path]: saved })
  })

  it.each([
    ['/b.tmp', '/b.tmp', '/c.tmp', '/c.tmp'],
    ['/d/b.tmp', '/d', '/e', '/e/b.tmp'],
  ])('is as it was saved, renamed meanwhile: %s, by a rename of %s to %s', async (path, from, to, now) => {
    await using drive = await openHeld({}, quick)
    await drive.calls().readdir('/')
    if (from !== path) await drive.calls().mkdir(from)
    await halfWritten(drive, path)
    await drive.calls().rename(from, to)
    await drive.restartKilled()
    expect((await drive.calls().readFile(now)).toString()).toBe(saved)
    await becomes(drive, { ...(from === path ? {} : { [to]: undefined }), [now]: saved })
  })

  it('is nobody’s save where it was never closed, renamed or not', async () => {
    await using drive = await openHeld({}, quick)
    await drive.calls().readdir('/')
    for (const path of ['/b.tmp', '/c.tmp']) {
      const file = await drive.calls().open(path, 'w')
      await file.write('half', 0)
    }
    await drive.calls().rename('/c.tmp', '/d.tmp')
    await drive.restartKilled()
    expect(await drive.calls().readdir('/')).toEqual([])
    expect(drive.fileSystem().status().lost).toHaveLength(2)
  })

  it.each([
    { which: 'and not closed', isClosed: false, wanted: saved },
    { which: 'and closed sooner', isClosed: true, wanted: `half${saved.slice(4)}` },
  ])('is what was closed, written to while that was made durable, $which', async ({ isClosed, wanted }) => {
    const syncs = heldSyncs((path) => path.includes('/spool/'))
    await using drive = await openHeld({}, { ...quick, world: { ...realWorld(), disk: syncs.disk } })
    const [file, other] = [await drive.calls().open('/b.tmp', 'w'), await drive.calls().open('/b.tmp', 'r+')]
    await file.write(saved, 0)
    syncs.hold()
    const closed = file.close()
    await syncs.reached
    syncs.pass()
    await other.write('half', 0)
    if (isClosed) await other.close()
    syncs.release()
    await closed
    await drive.restartKilled()
    expect((await drive.calls().readFile('/b.tmp')).toString()).toBe(wanted)
  })

  it.each([{ given: {} }, { given: { '/a.txt': saved } }])(
    'is what it was as a document, where its successor came meanwhile: $given',
    async ({ given }) => {
      await using drive = await openHeld(given)
      await drive.calls().readdir('/')
      drive.hold('/a.txt', '/a.txt~')
      if (!('/a.txt' in given)) await drive.calls().writeFile('/a.txt', saved)
      await drive.calls().rename('/a.txt', '/a.txt~')
      const file = await drive.calls().open('/a.txt~', 'r+')
      await file.write('half', 0)
      await drive.calls().writeFile('/a.txt', 'successor')
      await drive.restartKilled()
      drive.release()
      expect((await drive.calls().readFile('/a.txt~')).toString()).toBe(saved)
      await drive.drain()
      expect((await drive.calls().readFile('/a.txt~')).toString()).toBe(saved)
      expect((await held(drive))['/a.txt']).toBe('successor')
    },
  )

  it.each(['r+', 'w'] as const)(
    'is as the service had it, though that was replaced there meanwhile: opened with %s',
    async (flags) => {
      await using drive = await openHeld({ '/a.txt': saved })
      expect((await drive.calls().readFile('/a.txt')).toString()).toBe(saved)
      await drive.testService.stop()
      await drive.calls().rename('/a.txt', '/a.txt~')
      await drive.calls().writeFile('/a.txt', 'successor')
      const file = await drive.calls().open('/a.txt~', flags)
      await file.write('half', 0)
      await drive.testService.start()
      await drive.drain()
      expect(await held(drive)).toEqual({ '/a.txt': 'successor' })
      await drive.restartKilled()
      expect((await drive.calls().readFile('/a.txt~')).toString()).toBe(saved)
    },
  )

  it('holds nothing up where another client has replaced what the service had', async () => {
    await using drive = await openHeld({ '/a.txt': saved })
    await drive.calls().readdir('/')
    await drive.testService.other.put('/a.txt', 'theirs')
    await drive.testService.stop()
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'successor')
    const file = await drive.calls().open('/a.txt~', 'w')
    await file.write('whole', 0)
    await drive.testService.start()
    await drive.drain()
    expect(new Set(Object.values(await held(drive)))).toEqual(new Set(['successor', 'theirs']))
    await file.close()
    await drive.restartKilled()
    expect((await drive.calls().readFile('/a.txt~')).toString()).toBe('whole')
  })

  it('goes on as it is where it is its program’s own', async () => {
    await using drive = await openHeld()
    await halfWritten(drive, '/.a.txt.swp')
    await drive.restartKilled()
    expect((await drive.calls().readFile('/.a.txt.swp')).toString()).toBe('half')
  })
})

describe('a document that becomes a backup', () => {
  it('is moved by the service when no successor comes', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().rename('/a.txt', '/a.txt~')
    expect(await held(drive)).toEqual({ '/a.txt': 'a' })
    await becomes(drive, { '/a.txt~': 'a' })
  })

  it('stays here when its successor comes, also when it was never sent', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    for (const name of ['/a.txt', '/b.txt']) {
      await drive.testService.stop()
      if (name === '/b.txt') await drive.calls().writeFile(name, 'a')
      await drive.calls().rename(name, `${name}~`)
      await drive.calls().writeFile(name, 'new')
      await drive.testService.start()
      await drive.drain()
      expect((await drive.calls().readFile(`${name}~`)).toString()).toBe('a')
    }
    expect(await held(drive)).toEqual({ '/a.txt': 'new', '/b.txt': 'new' })
  })

  it('is after a restart what was written to it last, whatever it was as a document', async () => {
    await using drive = await openHeld()
    await drive.testService.stop()
    await drive.calls().writeFile('/a.txt', 'first')
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'second')
    await drive.calls().writeFile('/a.txt~', 'written later')
    await drive.restart()
    expect((await drive.calls().readFile('/a.txt~')).toString()).toBe('written later')
    await drive.testService.start()
    await drive.drain()
  })

  it('is sent when its document goes', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' }, quick)
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'new')
    await drive.drain()
    await drive.calls().rename('/a.txt', '/b.txt')
    await becomes(drive, { '/b.txt': 'new', '/a.txt~': 'a' })
  })

  it('leaves nothing where it came from, though it was renamed just before', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().readFile('/a.txt')
    drive.hold('/a.txt', '/b.txt', '/b.txt~')
    await drive.calls().writeFile('/a.txt', 'second')
    await drive.reached('/a.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.calls().rename('/b.txt', '/b.txt~')
    await drive.calls().writeFile('/b.txt', 'third')
    drive.release()
    await drive.drain()
    expect(await held(drive)).toEqual({ '/b.txt': 'third' })
    expect((await drive.calls().readFile('/b.txt~')).toString()).toBe('second')
    expect((await drive.calls().readdir('/')).sort()).toEqual(['b.txt', 'b.txt~'])
  })

  it('keeps its bytes though an earlier rename of it was about to end, also after a kill', async () => {
    await using drive = await openHeld({ '/a.txt': 'before' })
    await drive.calls().readdir('/')
    drive.holdDelete('/a.txt')
    await drive.calls().rename('/a.txt', '/b.txt')
    await drive.reached('/a.txt')
    await drive.calls().rename('/b.txt', '/a.txt')
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'after')
    // Its bytes are between two places: killed now, a file of this machine would name one that is about to be empty.
    expect(
      drive
        .fileSystem()
        .unsent('/')
        .map(({ path }) => path),
    ).toContain('/a.txt~')
    drive.release()
    await drive.drain()
    const expected = { '/a.txt': 'after', '/a.txt~': 'before' }
    for (const [path, content] of Object.entries(expected))
      expect((await drive.calls().readFile(path)).toString()).toBe(content)
    await drive.restart()
    for (const [path, content] of Object.entries(expected))
      expect((await drive.calls().readFile(path)).toString()).toBe(content)
    expect((await drive.calls().readdir('/')).sort()).toEqual(['a.txt', 'a.txt~'])
  })

  it('is in conflict with nobody though its last save arrives after it left', async () => {
    await using drive = await openHeld({ '/a.txt': 'a' })
    await drive.calls().readFile('/a.txt')
    drive.hold('/a.txt')
    await drive.calls().writeFile('/a.txt', 'second')
    await drive.reached('/a.txt')
    await drive.calls().rename('/a.txt', '/a.txt~')
    drive.release()
    await waitUntil('the save to arrive', () => drive.fileSystem().unsent('/').length === 1)
    await drive.calls().writeFile('/a.txt', 'third')
    await drive.drain()
    expect(await held(drive)).toEqual({ '/a.txt': 'third' })
    expect((await drive.calls().readFile('/a.txt~')).toString()).toBe('second')
  })

  it('takes the place of a backup that the service has', async () => {
    await using drive = await openHeld({ '/a.txt': 'a', '/a.txt~': 'older' })
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'new')
    await becomes(drive, { '/a.txt': 'new', '/a.txt~': 'a' })
  })

  it.each([{}, { '/a.txt': 'a' }])(
    'is not there again when it is deleted while an earlier one is sent',
    async (given) => {
      await using drive = await openHeld(given)
      drive.hold('/a.txt~')
      await drive.calls().writeFile('/a.txt', 'first')
      await drive.calls().rename('/a.txt', '/a.txt~')
      await drive.reached('/a.txt~')
      await drive.calls().writeFile('/a.txt', 'second')
      await drive.calls().rename('/a.txt', '/a.txt~')
      await drive.calls().writeFile('/a.txt', 'third')
      await drive.calls().unlink('/a.txt~')
      drive.release()
      await becomes(drive, { '/a.txt': 'third' })
      expect(await drive.calls().readdir('/')).toEqual(['a.txt'])
    },
  )

  it('is not there again when it is deleted though the answer to an earlier one’s upload was lost', async () => {
    await using drive = await openHeld({}, quick)
    const { faults } = drive.testService.service
    for (const path of ['/a.txt~', '/f.txt']) {
      faults.inject({ kind: 'lost-answer' }, { method: 'PUT', path, times: 1 })
      faults.inject({ kind: 'status', status: 503 }, { method: 'GET', path })
    }
    await drive.calls().writeFile('/a.txt~', 'older')
    await drive.calls().writeFile('/f.txt', 'first')
    const isStored = async (): Promise<boolean> => {
      const stored = await drive.testService.other.get('/')
      return stored?.entries?.length === 2
    }
    await waitUntil('both to be stored', isStored)
    await waitUntil('the drive to hear of neither', () =>
      drive
        .fileSystem()
        .unsent('/')
        .every(({ attempts }) => attempts > 0),
    )
    await drive.calls().rename('/f.txt', '/a.txt')
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'second')
    await drive.calls().unlink('/a.txt~')
    faults.clear()
    await becomes(drive, { '/a.txt': 'second' })
    expect(await drive.calls().readdir('/')).toEqual(['a.txt'])
  })

  it.each(['', 'after a restart'])(
    'keeps its bytes though its folder is renamed before it has come there %s',
    async (when) => {
      await using drive = await openHeld({ '/n.txt': 'first', '/d/x.txt': 'x' })
      const { faults } = drive.testService.service
      faults.inject({ kind: 'lost-answer' }, { method: 'PUT', path: '/d/n.txt', times: 1 })
      await drive.calls().readdir('/d')
      await drive.calls().rename('/n.txt', '/d/n.txt')
      const isStored = async (): Promise<boolean> =>
        (await drive.testService.other.get('/d'))?.entries?.length === 2
      await waitUntil('it to be stored', isStored)
      faults.inject({ kind: 'status', status: 503 }, { path: /n\.txt/ })
      await drive.calls().rename('/d/n.txt', '/d/n.txt~')
      await drive.calls().writeFile('/d/n.txt', 'second')
      await drive.calls().rename('/d', '/e')
      if (when !== '') await drive.restart()
      faults.clear()
      await drive.drain()
      expect((await drive.calls().readFile('/e/n.txt')).toString()).toBe('second')
      expect((await drive.calls().readFile('/e/n.txt~')).toString()).toBe('first')
      expect((await drive.calls().readdir('/')).sort()).toEqual(['e'])
    },
  )

  it('lets its deleted document go also where a rename of it failed', async () => {
    await using drive = await openHeld({ '/a.txt': 'a', '/d/x.txt': 'x' }, quick)
    expect(await drive.calls().readdir('/d')).toEqual(['x.txt'])
    await drive.testService.stop()
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().writeFile('/a.txt', 'new')
    await drive.calls().unlink('/a.txt')
    await expect(drive.calls().rename('/a.txt~', '/d')).rejects.toMatchObject({ code: 'EISDIR' })
    await drive.testService.start()
    await becomes(drive, { '/a.txt~': 'a', '/d': undefined, '/d/x.txt': 'x' })
  })

  it('survives a restart before and after its successor', async () => {
    await using drive = await openHeld({ '/a.txt': 'a', '/b.txt': 'b' })
    await drive.calls().rename('/a.txt', '/a.txt~')
    await drive.calls().rename('/b.txt', '/b.txt~')
    drive.hold('/b.txt', '/b.txt~', '/a.txt~')
    await drive.calls().writeFile('/b.txt', 'new')
    await drive.restart()
    expect((await drive.calls().readdir('/')).sort()).toEqual(['a.txt~', 'b.txt', 'b.txt~'])
    expect((await drive.calls().readFile('/b.txt~')).toString()).toBe('b')
    drive.release()
    await becomes(drive, { '/a.txt~': 'a', '/b.txt': 'new' })
    expect((await drive.calls().readFile('/b.txt~')).toString()).toBe('b')
  })
})

describe('what an earlier version kept on this machine for its name alone', () => {
  it('is sent at once', async () => {
    await using drive = await openHeld({ '/doc.txt': 'stored', '/sedatives': 'other' })
    await drive.restart(async (stateDir) => {
      const journal = new Journal(stateDir, realWorld())
      try {
        await mkdir(join(stateDir, 'spool'), { recursive: true, mode: 0o700 })
        // `mkdir sediments; echo x >sediments/report.txt`, `mkdir X.tmp`, `mv doc.txt sedation`
        for (const [at, path] of ['/sediments/report.txt', '/X.tmp/a.txt', '/4913'].entries()) {
          await writeFile(join(stateDir, 'spool', `spool-${at}`), path)
          journal.localFiles.save({ path, spool: `spool-${at}`, reference: undefined })
        }
        journal.folders.save('/sediments')
        journal.folders.save('/X.tmp')
        const size = 'stored'.length
        const fingerprint = `${size}@${(await drive.testService.other.get('/doc.txt'))?.modified_at}`
        journal.localFiles.save({
          path: '/sedation',
          spool: undefined,
          reference: { path: '/doc.txt', fingerprint, size },
        })
      } finally {
        journal.close()
      }
    })
    await becomes(drive, {
      '/X.tmp': undefined,
      '/X.tmp/a.txt': '/X.tmp/a.txt',
      '/sediments': undefined,
      '/sediments/report.txt': '/sediments/report.txt',
      '/4913': '/4913',
      '/doc.txt': 'stored',
      '/sedation': 'stored',
      '/sedatives': 'other',
    })
    expect(drive.fileSystem().status()).toMatchObject({ scratchFiles: 0, localOnly: [] })
  })

  it('is named where its content is missing', async () => {
    await using drive = await openHeld({}, quick)
    await drive.restart(async (stateDir) => {
      const journal = new Journal(stateDir, realWorld())
      journal.localFiles.save({ path: '/a.tmp', spool: 'nowhere', reference: undefined })
      journal.close()
      await Promise.resolve()
    })
    const why = (): string => drive.fileSystem().status().localOnly[0]?.why ?? ''
    await waitUntil('it to be looked at', () => why() === 'its content is missing')
    expect(await held(drive)).toEqual({})
  })
})
