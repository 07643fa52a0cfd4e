// `docmount tasks create`: makes a reconciliation task without executing it.

import type { Command } from 'commander'
import { baseUrlOption } from '../connect.ts'
import { printJson } from '../output.ts'
import { type ReconcileInputOptions, dataOption, fileOption, readReconcileInput } from '../reconcile-input.ts'
import { type TableOptions, projectOption, tableIdOf, withTables } from '../with-tables.ts'

interface TasksOptions extends TableOptions, ReconcileInputOptions {
  readonly json?: boolean
}

const help = `
Examples:
  $ docmount tasks create invoices --data invoice.json`

export function register(program: Command): void {
  const tasks = program
    .command('tasks')
    .summary('create reconciliation tasks')
    .description('Works on reconciliation tasks.')
    .addHelpText('after', help)

  tasks
    .command('create')
    .summary('create a task without executing it')
    .description('Creates a reconciliation task without executing it, and prints its id.')
    .argument('<table>', 'name or id of a reconcile table')
    .option(...dataOption)
    .option(...fileOption)
    .option(...projectOption)
    .option(...baseUrlOption)
    .option('--json', 'print JSON: {task_id}')
    .action(async (table: string, options: TasksOptions) => {
      const input = await readReconcileInput(options)
      const taskId = await withTables(options, async (tables, signal) =>
        tables.createTask(await tableIdOf(tables, table, signal), input, { signal }),
      )
      if (options.json === true) printJson({ task_id: taskId })
      else console.log(taskId)
    })
}
