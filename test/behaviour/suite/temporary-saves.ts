// Programs that save a document by a file beside it and a rename over it, under any name they like. Each is one replace, and
// the name of the file beside it never gets to the service.

import { expect } from 'vitest'

import type { Case, Topic } from '../topic.ts'

const contents = {
  csv: Buffer.from('a,b\n1,2\n'),
  json: Buffer.from('{"a": 1}\n'),
  pdf: Buffer.from('%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n'),
  jpeg: Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'),
  // Of no type that the content tells: its document tells it.
  odd: Buffer.from([9, 0, 1, 2, 3, 0xff, 0xfe, 0]),
}

interface Saving {
  readonly program: string
  readonly document: string
  readonly content: keyof typeof contents
  readonly temporary: string
  /** `wx+`: O_CREAT | O_EXCL | O_RDWR, `w`: O_CREAT | O_TRUNC | O_WRONLY. */
  readonly flags: 'wx+' | 'w'
  readonly mode: number
  readonly syncs?: boolean
}

const savings: readonly Saving[] = [
  ['qsavefile', 'k.csv', 'csv', 'k.csv.NqVwYS', 'wx+', 0o666, true],
  ['exiftool', 'photo.jpg', 'jpeg', 'photo.jpg_exiftool_tmp', 'w', 0o666],
  ['qpdf --replace-input', 'r.pdf', 'pdf', 'r.pdf.~qpdf-temp#', 'w', 0o666],
  ['JetBrains', 'd.json', 'json', 'd.json___jb_tmp___', 'w', 0o666],
  ['npm atomically', 'c.json', 'json', 'c.json.tmp-5691071988daf56b', 'w', 0o666, true],
  ['npm write-file-atomic', 'w.json', 'json', 'w.json.2837462837', 'w', 0o666, true],
  ['Go CreateTemp', 'g.pdf', 'pdf', 'g.pdf8073021573', 'wx+', 0o600, true],
  ['mkstemp, xls', 'p.xls', 'odd', 'tmpy8g_pan0', 'wx+', 0o600],
  ['mkstemp, xlsx', 'p.xlsx', 'odd', 'tmprlykei2i', 'wx+', 0o600],
  ['mkstemp, pdf', 'p3.pdf', 'pdf', 'tmpiaannkks', 'wx+', 0o600],
  ['mkstemp with a suffix', 'p4.csv', 'csv', 'tmpq8dkw0aa.csv', 'wx+', 0o600, true],
  ['perl', 'pl.csv', 'csv', 'pl.csv.tmp12345', 'w', 0o666],
  ['f.new', 'n.csv', 'csv', 'n.csv.new', 'w', 0o666],
  ['f.bin', 'n.mp3', 'odd', 'n.mp3.bin', 'w', 0o666],
  ['libgsf, xls', 'gn.xls', 'odd', '.gsf-save-u9mI4R', 'wx+', 0o600],
  ['libgsf, xlsx', 'gn.xlsx', 'odd', '.gsf-save-Onl89S', 'wx+', 0o600],
  ['macOS', 'm.pdf', 'pdf', 'm.pdf.sb-8a7b6c5d-m995yt', 'w', 0o666],
  ['rsync --temp-dir', 'rd.pdf', 'pdf', 'rd.pdf.bxAk7j', 'wx+', 0o600],
  ['dpkg', 'dp.ini', 'csv', 'dp.ini.dpkg-new', 'w', 0o600, true],
  ['the portal of Flatpak', 'x.csv', 'csv', '.xdp-x.csv.qevt0M-LaMRTv', 'wx+', 0o600],
  ['scanners', 'sc.pdf', 'pdf', 'sc.pdf_tmp', 'w', 0o666],
  ['GIO', 'gi.pdf', 'pdf', '.goutputstream-etw0tE', 'wx+', 0o600, true],
  ['rsync', 'rn.pdf', 'pdf', '.rn.pdf.SulEET', 'wx+', 0o600],
  ['rclone', 'rc.pdf', 'pdf', 'rc.pdf.a1b2c3d4.partial', 'w', 0o666],
  ['proftpd', 'ft.pdf', 'pdf', '.in.ft.pdf.', 'w', 0o666],
  ['git', 'gl.csv', 'csv', 'gl.csv.lock', 'wx+', 0o666, true],
  ['Syncthing', 'sy.csv', 'csv', '.syncthing.sy.csv.tmp', 'w', 0o666, true],
  ['LibreOffice', 'lo.xlsx', 'odd', 'lu3124a1b2c3.tmp', 'wx+', 0o600],
].map(([program, document, content, temporary, flags, mode, syncs]) =>
  ({ program, document, content, temporary, flags, mode, syncs }) as Saving) // prettier-ignore

/** Two writes: a program may close, or be judged, in the middle. */
async function writeBeside(
  { door, at }: Case,
  { content, temporary, flags, mode, syncs }: Saving,
): Promise<void> {
  const bytes = contents[content]
  const file = await door.open(at(temporary), flags, mode)
  await file.write(bytes.subarray(0, 6), 0)
  await file.write(bytes.subarray(6), 6)
  if (syncs === true) await file.sync()
  await file.close()
}

export const temporarySaves: Topic = (it) => {
  for (const saving of savings) {
    const { program, document, content, temporary } = saving
    it(`${program}: ${temporary} is renamed over ${document}`, { [document]: 'old' }, async (test) => {
      const { door, folder, at } = test
      await door.readdir(folder)
      await door.readFile(at(document))
      door.behind.clearCalls()
      await writeBeside(test, saving)
      await door.rename(at(temporary), at(document))
      await door.behind.waitFor(folder, { [document]: contents[content] })
      door.behind.expectCalls(folder, { PUT: 1, DELETE: 1, apiAtMost: 3 })
      door.behind.expectUploads(folder, [document])
      expect(await door.readdir(folder)).toEqual([document])
      expect((await door.readFile(at(document))).equals(contents[content])).toBe(true)
    })
  }

  it('one that is new is saved so, too', async (test) => {
    const { door, folder, at } = test
    await door.readdir(folder)
    door.behind.clearCalls()
    for (const saving of savings.filter(({ content, mode }) => content !== 'odd' || mode === 0o600)) {
      await writeBeside(test, saving)
      await door.rename(at(saving.temporary), at(saving.document))
    }
    door.behind.expectUploads(
      folder,
      savings.map(({ document }) => document),
    )
  })

  it(
    'the old version goes away first, under a name that tells nothing, and is deleted in the end',
    { 'd.json': 'old', 'r.pdf': 'old', 'e.csv': 'old' },
    async (test) => {
      const { door, folder, at } = test
      await door.readdir(folder)
      for (const name of ['d.json', 'r.pdf', 'e.csv']) await door.readFile(at(name))
      door.behind.clearCalls()
      const moves = [
        ['d.json', 'd.json___jb_tmp___', 'd.json___jb_old___'],
        ['r.pdf', 'r.pdf.~qpdf-temp#', 'r.pdf.~qpdf-orig'],
        ['e.csv', '2A2B3C00.tmp', '7F2E8D41'],
      ] as const
      for (const [document, temporary, former] of moves) {
        await door.writeFile(at(temporary), 'new')
        await door.rename(at(document), at(former))
        await door.rename(at(temporary), at(document))
        await door.unlink(at(former))
      }
      await door.behind.waitFor(folder, { 'd.json': 'new', 'r.pdf': 'new', 'e.csv': 'new' })
      door.behind.expectCalls(folder, { PUT: 3, DELETE: 3 })
      door.behind.expectUploads(folder, ['d.json', 'r.pdf', 'e.csv'])
    },
  )

  it('fsync makes a document of a name that tells nothing, and is named after nothing', async ({
    door,
    folder,
    at,
  }) => {
    const names = ['St.Gallen', '2026.Q1', 'contract.signed', 'bank.sta', 'order.edi', 'photo.xmp']
    for (const name of names) {
      const file = await door.open(at(name), 'w')
      await file.write(name, 0)
      await file.sync()
      await file.close()
    }
    await door.behind.waitFor(folder, Object.fromEntries(names.map((name) => [name, name])))
  })

  it(
    'a document is moved to a name that tells nothing',
    { 'a.pdf': '%PDF-1.4\n', 'b.pdf': '%PDF-1.4\n', 'c.pdf': '%PDF-1.4\n' },
    async ({ door, folder, at }) => {
      await door.rename(at('a.pdf'), at('contract.signed'))
      await door.rename(at('b.pdf'), at('St.Gallen'))
      await door.rename(at('c.pdf'), at('report.pdf.1'))
      expect((await door.readdir(folder)).sort()).toEqual(['St.Gallen', 'contract.signed', 'report.pdf.1'])
      for (const name of ['contract.signed', 'St.Gallen'])
        expect((await door.readFile(at(name))).toString()).toBe('%PDF-1.4\n')
    },
  )

  it(
    'a file whose name tells nothing is decided, and half a save is not sent',
    { 'a.jpg': 'a' },
    async (test) => {
      const { door, folder, at } = test
      await door.readdir(folder)
      const half = await door.open(at('a.jpg.tmp'), 'wx+', 0o600)
      await half.write('half', 0)
      await half.sync()
      await half.close()
      const file = await door.open(at('minutes.draft'), 'w')
      await file.write('text', 0)
      await file.sync()
      await file.close()
      await door.behind.waitFor(folder, { 'a.jpg': 'a', 'minutes.draft': 'text' })
      test.staysHere('a.jpg.tmp')
    },
  )
}
