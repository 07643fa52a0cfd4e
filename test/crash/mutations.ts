// Every mutation a program can make, as the calls it makes, with what is there beforehand. Each gets a folder of its own.

import { patternedBytes } from '../support/bytes.ts'
import type { Operation } from '../model/model.ts'

export interface Mutation {
  readonly title: string
  /** Documents that the service has, by name in the folder. */
  readonly given: Readonly<Record<string, Buffer>>
  readonly operations: readonly Operation[]
}

const old = Buffer.from('the old version\n')
const fresh = Buffer.from('what was saved here, and is longer\n')
const other = patternedBytes(70_000, 'another document')

const write = (path: string, content = fresh): Operation => ({ kind: 'write', path, content })
const rename = (path: string, to: string): Operation => ({ kind: 'rename', path, to })
const unlink = (path: string): Operation => ({ kind: 'unlink', path })

/** Few enough to be under way at once: the drive sends eight changes at a time. */
export const mutations: readonly (readonly Mutation[])[] = [
  [
    { title: 'create', given: {}, operations: [write('a.txt')] },
    { title: 'replace', given: { 'a.txt': old }, operations: [write('a.txt')] },
    {
      title: 'append',
      given: { 'a.txt': old },
      operations: [{ kind: 'append', path: 'a.txt', content: fresh }],
    },
    { title: 'rename of a file', given: { 'a.pdf': other }, operations: [rename('a.pdf', 'b.pdf')] },
    {
      title: 'rename over an existing file',
      given: { 'a.pdf': other, 'b.pdf': old },
      operations: [rename('a.pdf', 'b.pdf')],
    },
    {
      title: 'save by GIO (scratch to document)',
      given: { 'a.txt': old },
      operations: [write('.goutputstream-AB12CD'), rename('.goutputstream-AB12CD', 'a.txt')],
    },
    { title: 'create, then rename', given: {}, operations: [write('a.txt'), rename('a.txt', 'b.txt')] },
  ],
  [
    {
      title: 'rename of a folder',
      given: { 'in/a.txt': old, 'in/b.pdf': other, 'in/deep/c.txt': fresh },
      operations: [rename('in', 'out')],
    },
    {
      title: 'backup without a successor',
      given: { 'a.txt': old },
      operations: [rename('a.txt', 'a.txt~')],
    },
    {
      title: 'save by vim (backup, new file, backup removed)',
      given: { 'a.txt': old },
      operations: [rename('a.txt', 'a.txt~'), write('a.txt'), unlink('a.txt~')],
    },
    { title: 'delete', given: { 'a.txt': old, 'b.txt': old }, operations: [unlink('a.txt')] },
    {
      title: 'replace, then delete',
      given: { 'a.txt': old, 'b.txt': old },
      operations: [write('a.txt'), unlink('a.txt')],
    },
  ],
  [
    { title: 'mkdir', given: { 'a.txt': old }, operations: [{ kind: 'mkdir', path: 'in' }] },
    {
      title: 'mkdir, a file in it, both removed',
      given: { 'x.txt': old },
      operations: [
        { kind: 'mkdir', path: 'in' },
        write('in/a.txt'),
        unlink('in/a.txt'),
        { kind: 'rmdir', path: 'in' },
      ],
    },
    {
      title: 'rmdir',
      given: { 'in/a.txt': old, 'b.txt': old },
      operations: [unlink('in/a.txt'), { kind: 'rmdir', path: 'in' }],
    },
    {
      title: 'truncate',
      given: { 'a.txt': old },
      operations: [{ kind: 'truncate', path: 'a.txt', size: 5 }],
    },
    {
      title: 'two documents swap names',
      given: { 'a.txt': old, 'b.txt': fresh },
      operations: [rename('a.txt', 'c.txt'), rename('b.txt', 'a.txt'), rename('c.txt', 'b.txt')],
    },
    {
      title: 'a folder takes a document’s name',
      given: { 'a.txt': old },
      operations: [unlink('a.txt'), { kind: 'mkdir', path: 'a.txt' }, write('a.txt/b.txt')],
    },
  ],
]

/** The same with every path inside `folder`. */
export function placed(
  { given, operations }: Mutation,
  folder: string,
): { given: Map<string, Buffer>; operations: Operation[] } {
  return {
    given: new Map(Object.entries(given).map(([name, content]) => [`${folder}/${name}`, content])),
    operations: operations.map((operation) => ({
      ...operation,
      path: `${folder}/${operation.path}`,
      ...(operation.kind === 'rename' ? { to: `${folder}/${operation.to}` } : {}),
    })),
  }
}
