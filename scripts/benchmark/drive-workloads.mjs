// Workloads of drives, in groups. Each group starts on a new mount with empty caches, and measures one or more rows of the table.

import { join } from 'node:path'
import { makeReports, memoBytes, noteBytes, reportBytesOf, reports } from './data.mjs'
import { programOf } from './session.mjs'

/** Rows of the table, in order. Values are seconds. */
export const rows = {
  'list-cold': 'ls -lR, 100 folders × 100 files, cold',
  'list-warm': 'ls -lR again',
  'flat-cold': 'ls -l, folder of 10,000, cold',
  'flat-warm': 'ls -l again',
  'sequential-cold': 'read 256 MiB, cold',
  'sequential-warm': 'read again (page cache)',
  'sequential-remount': 'read after remount (disk cache)',
  random: '256 random reads of 4 KiB, cold',
  'random-8': '1,024 of them by 8 threads, cold',
  stride: '4 KiB every 68 KiB of 34 MB, cold',
  'random-cached': '4,000 random reads of 4 KiB, from the disk cache',
  'random-cached-8': '16,000 of them by 8 threads',
  heads: 'first 64 KiB of 500 files of 2 MiB, one program',
  'heads-again': '… again (page cache)',
  grep: 'grep -r, 1,000 files of 8 KiB, cold',
  'copy-in': 'cp -r, 500 files of 8 KiB in',
  'copy-in-stored': '… until the server has them',
  remove: 'rm -r of those 500',
  write: 'write 256 MiB',
  'write-stored': '… until the server has it',
  'save-over': 'save over 10 files of 256 KiB',
  'save-over-stored': '… until the server has them',
  'save-over-small': 'save over 500 documents of 2 KB',
  'save-over-small-stored': '… until the server has them',
}

/** Rows that also are measured with docmount's `--close-wait 0`, because that changes them. */
export const writeBackRows = new Set(Object.keys(rows).slice(Object.keys(rows).indexOf('copy-in')))

/** Rows for which the daemon's processor time is shown, and the unit: those measured until all work is done. */
export const processorRows = {
  'sequential-cold': {
    title: 'read 256 MiB cold: for each GiB',
    unitsOf: ({ largeBytes }) => largeBytes / 2 ** 30,
  },
  'write-stored': { title: 'write 256 MiB: for each GiB', unitsOf: ({ largeBytes }) => largeBytes / 2 ** 30 },
  'copy-in-stored': {
    title: 'cp -r in: for each 1,000 small documents',
    unitsOf: ({ copies }) => copies / 1000,
  },
  'save-over-small-stored': {
    title: 'save over: for each 1,000 small documents',
    unitsOf: ({ memos }) => memos / 1000,
  },
  'random-cached': { title: 'random reads from the disk cache: for each 1,000', unitsOf: () => 4 },
}

const film = 'large/film.mp4'
const readAll = (session) => ['dd', [`if=${session.at(film)}`, 'of=/dev/null', 'bs=1M']]
const reading = (run) => ({ run })
const writing = (run) => ({ run, isWriteBack: true })

export const groups = {
  list: reading(async (session) => {
    await session.mount()
    await session.time('list-cold', 'ls', ['-lR', session.at('tree')])
    await session.time('list-warm', 'ls', ['-lR', session.at('tree')])
  }),
  flat: reading(async (session) => {
    await session.mount()
    await session.time('flat-cold', 'ls', ['-l', session.at('flat')])
    await session.time('flat-warm', 'ls', ['-l', session.at('flat')])
  }),
  sequential: reading(async (session) => {
    await session.mount()
    await session.time('sequential-cold', ...readAll(session))
    await session.time('sequential-warm', ...readAll(session))
    await session.remount()
    await session.time('sequential-remount', ...readAll(session))
  }),
  random: reading(async (session) => {
    await session.mount()
    await session.timeReader('random', 'random', film, session.shape.randomReads)
  }),
  'random-8': reading(async (session) => {
    await session.mount()
    await session.timeReader('random-8', 'random', film, session.shape.randomReads * 4, 8)
  }),
  stride: reading(async (session) => {
    await session.mount()
    await session.timeReader('stride', 'stride', 'large/scanned.pdf')
  }),
  /** One program for all files, because starting 500 programs would take longer than reading. */
  heads: reading(async (session) => {
    const heads = ['-c', 'cd "$1" && head -q -c 65536 -- * > /dev/null', 'sh', session.at('scans')]
    await session.mount()
    await session.time('heads', 'sh', heads)
    await session.time('heads-again', 'sh', heads)
  }),
  grep: reading(async (session) => {
    await session.mount()
    await session.time('grep', 'grep', ['-rc', 'needle', session.at('notes')], { mayFindNothing: true })
  }),
  /** Copies files in, waits until the server has all of them, and removes them. */
  'copy-in': writing(async (session) => {
    await session.mount()
    const folder = session.freshName('letters')
    await session.time('copy-in', 'cp', ['-r', session.source('letters'), session.at(folder)])
    await session.stored('copy-in-stored', folder, session.shape.copies, noteBytes)
    await session.time('remove', 'rm', ['-r', session.at(folder)])
  }),
  write: writing(async (session) => {
    await session.mount()
    const name = `${session.freshName('film')}.mp4`
    const target = session.at(`large/${name}`)
    await session.time('write', 'dd', [`if=${session.source('film.mp4')}`, `of=${target}`, 'bs=1M'])
    await session.stored('write-stored', 'large', 1, session.shape.largeBytes, name)
    await session.tidy('rm', ['-f', target])
  }),
  'save-over': writing(async (session) => {
    await session.mount()
    const bytes = reportBytesOf(session.nextEdition())
    const folder = join(session.folder, 'reports')
    await makeReports(folder, bytes)
    // Listed first, as an editor does.
    await session.tidy('ls', ['-l', session.at('reports')])
    const save = 'for f in "$1"/*; do cp "$f" "$2/" || exit 1; done'
    await session.time('save-over', 'sh', ['-c', save, 'sh', folder, session.at('reports')])
    await session.stored('save-over-stored', 'reports', reports, bytes)
  }),
  'save-over-small': writing(async (session) => {
    await session.mount()
    const bytes = memoBytes + session.nextEdition()
    const { memos } = session.shape
    await session.tidy('ls', ['-l', session.at('memos')])
    const args = [programOf('small-saves.mjs'), session.at('memos'), String(memos), String(bytes)]
    await session.time('save-over-small', process.execPath, args)
    await session.stored('save-over-small-stored', 'memos', memos, bytes)
  }),
  /** Reads from docmount's disk cache: the document was read before, and the kernel's cache is empty. */
  'random-cached': reading(async (session) => {
    await session.mount()
    await session.tidy(...readAll(session))
    await session.remount()
    // Once more, for blocks that the cache evicted during the first pass.
    await session.tidy(...readAll(session))
    await session.remount()
    await session.timeReader('random-cached', 'random', film, 4000)
    await session.remount()
    await session.timeReader('random-cached-8', 'random', film, 16_000, 8)
  }),
}
