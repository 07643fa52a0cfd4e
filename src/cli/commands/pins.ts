// `docmount pins`: shows pins, and how much of them is on this machine.

import type { Command } from 'commander'

export function register(program: Command): void {
  program
    .command('pins')
    .summary('show what is pinned, and how much of it is here')
    .description('Shows what is pinned on every drive, or on one, and how much of it is on this machine.')
    .argument('[mountpoint]', 'a drive')
    .option('--json', 'print JSON: an array of pins')
    .addHelpText(
      'after',
      '\nExample:\n  $ docmount pins --json | jq -r \'.[] | select(.state != "here") | .path\'',
    )
    .action(async (mountpoint: string | undefined, options: { json?: boolean }) => {
      const { runPins } = await import('../run-pins.ts')
      await runPins(mountpoint, options)
    })
}
