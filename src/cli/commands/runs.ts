// `docmount runs`: removes reconciliations that the user's own service keeps.

import type { Command } from 'commander'
import { type OwnServiceOptions, addOwnServiceOptions, withAdminOf } from '../own-service.ts'
import { parseLifetimeMs } from '../durations.ts'
import { print } from '../output.ts'

interface RunsOptions extends OwnServiceOptions {
  readonly table?: string
  readonly older?: number
  readonly json?: boolean
}

const help = `
Every run and every task takes room in its project. docmount serve --limit keep-runs=90d removes old
ones automatically.

Examples:
  $ docmount runs rm acme --older 90d --data ~/documents
  $ docmount runs rm acme --table invoices --data ~/documents
  $ docmount runs rm acme --database postgres://docmount@db.example/docmount      all of the project`

export function register(program: Command): void {
  const runs = program
    .command('runs')
    .summary('remove reconciliations that a service of your own has kept')
    .description('Removes reconciliations (runs, and tasks that wait) that a service of your own has kept.')
    .addHelpText('after', help)

  addOwnServiceOptions(runs.command('rm').summary('remove runs and tasks of a project, permanently'))
    .description('Removes runs and tasks of a project, permanently.')
    .argument('<project>', 'name of the project')
    .option('--table <table>', 'of this table only: its name or id')
    .option('--older <duration>', 'older than this only, for instance 90d', parseLifetimeMs)
    .option('--json', 'print JSON')
    .action((project: string, options: RunsOptions) =>
      withAdminOf(options, async (admin) => {
        const removed = await admin.removeRuns(project, {
          table: options.table,
          olderThanMs: options.older,
        })
        print(options, { removed }, `${removed} removed`)
      }),
    )
}
