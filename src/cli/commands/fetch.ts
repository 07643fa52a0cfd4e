// `docmount fetch`: fetches documents into the cache, once.

import type { Command } from 'commander'

export function register(program: Command): void {
  program
    .command('fetch')
    .summary('fetch a document or folder into the cache, once')
    .description(
      'Brings all content at and under a path into the cache, where it stays until something else needs the room. ' +
        'docmount pin keeps it permanently.',
    )
    .argument('<path>', 'a path on a drive')
    .option('--json', 'print JSON: what was there and what was fetched')
    .addHelpText('after', '\nExample:\n  $ docmount fetch ~/acme/scans && ./evaluate ~/acme/scans')
    .action(async (path: string, options: { json?: boolean }) => {
      const { runFetch } = await import('../run-cache.ts')
      await runFetch(path, options)
    })
}
