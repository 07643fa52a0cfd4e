// `docmount cache`: shows what the cache of a drive holds, and clears it.

import type { Command } from 'commander'

const help = `
Unsent content is never in the cache.

Examples:
  $ docmount cache
  $ docmount cache clear ~/acme              what is read next is fetched again
  $ docmount cache clear ~/acme --pins       what is pinned too; it is fetched anew while the service is there`

export function register(program: Command): void {
  const cache = program
    .command('cache')
    .summary('show what the cache holds, or clear it')
    .description('Shows what the cache of a drive holds.')
    .argument('[mountpoint]', 'a drive (default: the only drive)')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (mountpoint: string | undefined, options: { json?: boolean }) => {
      const { runCache } = await import('../run-cache.ts')
      await runCache(mountpoint, options)
    })

  cache
    .command('clear')
    .summary('empty the cache; what is pinned stays')
    .description('Empties the cache of a drive. What is pinned stays. Unsent content is never in the cache.')
    .argument('[mountpoint]', 'a drive (default: the only drive)')
    .option('--pins', 'remove what is pinned too; it is fetched anew')
    .option('--json', 'print JSON: what was there')
    .action(async (mountpoint: string | undefined, { pins }: { pins?: boolean }, command: Command) => {
      const { runClearCache } = await import('../run-cache.ts')
      await runClearCache(mountpoint, {
        withPinned: pins === true,
        // `cache` has a --json, too, and commander gives it the value.
        json: command.optsWithGlobals()['json'] === true,
      })
    })
}
