// Which nodes are watched, by what the kernel tells of a process; and the programs that replay changes.

import { expect, test } from 'vitest'
import { stepsOf } from '../../src/daemon/live-folders/replay.ts'
import { parseWatches } from '../../src/daemon/live-folders/watched-nodes.ts'
import type { Finding } from '../../src/fs/operations.ts'

test('watches of a device are told from those of others, of inotify and of fanotify', () => {
  const fdinfo = `pos:	0
flags:	00
inotify wd:2 ino:1f sdev:3b mask:fce ignored_mask:0 fhandle-bytes:c fhandle-type:81 f_handle:1f000000
inotify wd:1 ino:1 sdev:3 mask:fce ignored_mask:0 fhandle-bytes:8 fhandle-type:1 f_handle:01000000
fanotify flags:0 event-flags:0
fanotify ino:20 sdev:3b mflags:0 mask:8 ignored_mask:0 fhandle-bytes:c fhandle-type:81 f_handle:20000000
fanotify mnt_id:3b mflags:0 mask:8 ignored_mask:0
`
  expect(parseWatches(fdinfo, '3b')).toEqual([31, 32])
})

test('what is gone comes first, no name is an option, and few names go to one program', () => {
  const many = Array.from({ length: 250 }, (_, i): Finding => ({ what: 'made', name: `-${i}`, kind: 'file' }))
  const steps = stepsOf([...many, { what: 'gone', name: '-r', kind: 'file' }], 1_000)
  expect(steps.map(({ command }) => command.slice(0, 4))).toEqual([
    ['rm', '-f', '--', './-r'],
    ['truncate', '-s', '+0', '--'],
    ['truncate', '-s', '+0', '--'],
  ])
  expect(steps.flatMap(({ findings }) => findings)).toHaveLength(251)
  expect(stepsOf(many, 249)).toEqual([{ command: ['touch', '-c', '--', '.'], findings: [] }])
})
