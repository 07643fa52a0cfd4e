import { expect, test } from 'vitest'
// @ts-expect-error: a script of the build, without types
import { manPage } from '../../scripts/man-page.mjs'
import { type CommandNode, commandTree } from '../../src/cli/command-tree.ts'
import { makeProgram } from '../../src/cli/program.ts'

test('the man page has every choice, and the files that docmount keeps', async () => {
  const commands = commandTree(await makeProgram())
  const page = (manPage({ version: '1', description: 'd', commands }) as string).replaceAll('\\-', '-')
  const all = (nodes: readonly CommandNode[]): readonly CommandNode[] =>
    nodes.flatMap((node) => [node, ...all(node.commands)])
  const choices = all(commands)
    .flatMap((node) => [...node.options, ...node.arguments])
    .map((one) => one.choices)
  for (const some of choices) if (some.length > 0) expect(page).toContain(`(${some.join(', ')})`)
  expect(choices.flat()).toEqual(expect.arrayContaining(['fuse-native', 'overwrite', 'reconcile', 'fish']))
  const files = page.slice(page.indexOf('.SH FILES'), page.indexOf('.SH EXIT STATUS'))
  for (const place of [
    'config.json',
    '.local/state',
    '.cache',
    'XDG_RUNTIME_DIR',
    '.config/systemd/user',
    'fstab',
  ])
    expect(files).toContain(place)
})
