// One topic per operation: what every door can do.

import { append } from './suite/append.ts'
import { concurrent } from './suite/concurrent.ts'
import { editorSaves } from './suite/editor-saves.ts'
import { large } from './suite/large.ts'
import { list } from './suite/list.ts'
import { mkdir, rmdir } from './suite/mkdir.ts'
import { names } from './suite/names.ts'
import { read } from './suite/read.ts'
import { rename } from './suite/rename.ts'
import { saveOver } from './suite/save-over.ts'
import { stat } from './suite/stat.ts'
import { sync } from './suite/sync.ts'
import { temporarySaves } from './suite/temporary-saves.ts'
import { times } from './suite/times.ts'
import { truncate } from './suite/truncate.ts'
import { unlink, unlinkedOpen } from './suite/unlink.ts'
import { write } from './suite/write.ts'
import type { Topic } from './topic.ts'

export const operations: Readonly<Record<string, Topic>> = {
  list,
  stat,
  read,
  write,
  'save over': saveOver,
  append,
  truncate,
  rename,
  unlink,
  'unlinked open': unlinkedOpen,
  mkdir,
  rmdir,
  times,
  names,
  sync,
  large,
  concurrent,
  'editor saves': editorSaves,
  'temporary saves': temporarySaves,
}
