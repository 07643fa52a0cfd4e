// Workloads, in groups. Each group starts on a fresh mount with nothing cached anywhere, and makes the rows it names.

import { join } from 'node:path'
import { makeReports, memoBytes, reportBytesOf, reports, noteBytes } from './data.mjs'

/** Rows of the table, in order; `better` is always less: seconds. */
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
  stride: '4 KiB every 68 KB of 34 MB, cold',
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

/** Rows that `--close-wait 0` changes: measured a second time for docmount. */
export const writeBackRows = [
  'copy-in',
  'copy-in-stored',
  'remove',
  'write',
  'write-stored',
  'save-over',
  'save-over-stored',
  'save-over-small',
  'save-over-small-stored',
]

/** Whose processor time is told, for how much: rows measured to the end of what they cause. */
export const processorRows = {
  'sequential-cold': {
    title: 'read 256 MiB cold: for each GiB',
    unitsOf: (shape) => shape.largeBytes / 1024 ** 3,
  },
  'write-stored': { title: 'write 256 MiB: for each GiB', unitsOf: (shape) => shape.largeBytes / 1024 ** 3 },
  'copy-in-stored': {
    title: 'cp -r in: for each 1,000 small documents',
    unitsOf: (shape) => shape.copies / 1000,
  },
  'save-over-small-stored': {
    title: 'save over: for each 1,000 small documents',
    unitsOf: (shape) => shape.memos / 1000,
  },
  'random-cached': { title: 'random reads from the disk cache: for each 1,000', unitsOf: () => 4 },
}

export const groups = {
  async list(session) {
    await session.mount()
    await session.time('list-cold', 'ls', ['-lR', session.at('tree')])
    await session.time('list-warm', 'ls', ['-lR', session.at('tree')])
  },
  async flat(session) {
    await session.mount()
    await session.time('flat-cold', 'ls', ['-l', session.at('flat')])
    await session.time('flat-warm', 'ls', ['-l', session.at('flat')])
  },
  async sequential(session) {
    const read = ['dd', [`if=${session.at('large/film.mp4')}`, 'of=/dev/null', 'bs=1M']]
    await session.mount()
    await session.time('sequential-cold', ...read)
    await session.time('sequential-warm', ...read)
    if (session.peer.isLimit) return
    await session.remount()
    await session.time('sequential-remount', ...read)
  },
  async random(session) {
    await session.mount()
    const reader = new URL('random-reads.mjs', import.meta.url).pathname
    const { randomReads } = session.shape
    await session.time('random', process.execPath, [
      reader,
      session.at('large/film.mp4'),
      String(randomReads),
      String(session.round),
    ])
  },
  async 'random-8'(session) {
    await session.mount()
    const reader = new URL('random-reads.mjs', import.meta.url).pathname
    const count = String(session.shape.randomReads * 4)
    const film = session.at('large/film.mp4')
    await session.time('random-8', process.execPath, [reader, film, count, String(session.round), '8'])
  },
  async stride(session) {
    await session.mount()
    const reader = new URL('strides.mjs', import.meta.url).pathname
    await session.time('stride', process.execPath, [reader, session.at('large/scanned.pdf')])
  },
  /** All of the document was read once before; what is measured begins with the kernel's caches dropped. */
  async 'random-cached'(session) {
    const reader = new URL('random-reads.mjs', import.meta.url).pathname
    const film = session.at('large/film.mp4')
    await session.mount()
    await session.tidy('dd', [`if=${film}`, 'of=/dev/null', 'bs=1M'])
    if (session.peer.isLimit) return
    await session.remount()
    // Blocks that the cache evicted during that pass.
    await session.tidy('dd', [`if=${film}`, 'of=/dev/null', 'bs=1M'])
    await session.remount()
    await session.time('random-cached', process.execPath, [reader, film, '4000', String(session.round)])
    await session.remount()
    await session.time('random-cached-8', process.execPath, [
      reader,
      film,
      '16000',
      String(session.round),
      '8',
    ])
  },
  /** One program for all: 500 programs would be timed instead of the drive. */
  async heads(session) {
    const heads = ['-c', 'cd "$1" && head -q -c 65536 -- * > /dev/null', 'sh', session.at('scans')]
    await session.mount()
    await session.time('heads', 'sh', heads)
    await session.time('heads-again', 'sh', heads)
  },
  async grep(session) {
    await session.mount()
    await session.time('grep', 'grep', ['-rc', 'needle', session.at('notes')], { mayFindNothing: true })
  },
  /** Copies in, waits until the server has everything, and removes it. */
  async 'copy-in'(session) {
    await session.mount()
    const folder = session.freshName('letters')
    await session.time('copy-in', 'cp', ['-r', session.source('letters'), session.at(folder)])
    await session.stored('copy-in-stored', folder, session.shape.copies, noteBytes)
    await session.time('remove', 'rm', ['-r', session.at(folder)])
  },
  async write(session) {
    await session.mount()
    const name = session.freshName('film')
    await session.time('write', 'dd', [
      `if=${session.source('film.mp4')}`,
      `of=${session.at(`large/${name}.mp4`)}`,
      'bs=1M',
    ])
    await session.stored('write-stored', 'large', 1, session.shape.largeBytes, `${name}.mp4`)
    await session.tidy('rm', ['-f', session.at(`large/${name}.mp4`)])
  },
  async 'save-over'(session) {
    await session.mount()
    const edition = session.nextEdition()
    const folder = join(session.folder, 'reports')
    await makeReports(folder, reportBytesOf(edition))
    // An editor has looked first.
    await session.tidy('ls', ['-l', session.at('reports')])
    const save = 'for f in "$1"/*; do cp "$f" "$2/" || exit 1; done'
    await session.time('save-over', 'sh', ['-c', save, 'sh', folder, session.at('reports')])
    await session.stored('save-over-stored', 'reports', reports, reportBytesOf(edition))
  },
  async 'save-over-small'(session) {
    await session.mount()
    const sizeBytes = memoBytes + session.nextEdition()
    const { memos } = session.shape
    await session.tidy('ls', ['-l', session.at('memos')])
    const saver = new URL('small-saves.mjs', import.meta.url).pathname
    const args = [saver, session.at('memos'), String(memos), String(sizeBytes)]
    await session.time('save-over-small', process.execPath, args)
    await session.stored('save-over-small-stored', 'memos', memos, sizeBytes)
  },
}
