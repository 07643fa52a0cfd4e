// Arguments, options and help of `docmount tables`. Its work is in run-tables.ts, which is loaded only when the command runs.

import { type Command, Option } from 'commander'
import { type OwnServiceOptions, addOwnServiceOptions, withAdminOf } from '../own-service.ts'
import { baseUrlOption } from '../connect.ts'
import type { CreateOptions, StoreOptions, TablesOptions } from '../run-tables.ts'
import { projectOption } from '../with-tables.ts'

const help = `
Tables are named by name or id.

Examples:
  $ docmount tables ls
  $ docmount tables create invoices --type reconcile --schema schema.json
  $ docmount tables schema invoices --json
  $ docmount tables store "Price list" prices.xlsx
  $ docmount tables rm acme invoices --data ~/documents   of a service of your own
  $ docmount forward invoices rows.csv                    (docmount forward --help)`

export function register(program: Command): void {
  const tables = program
    .command('tables')
    .summary('list, create and fill tables')
    .description("Works on the project's tables.")
    .addHelpText('after', help)

  tables
    .command('ls')
    .alias('list')
    .summary('list the tables')
    .description('Lists the tables.')
    .option(...projectOption)
    .option(...baseUrlOption)
    .option('--json', 'print JSON: an array of tables as the service spells them')
    .action(async (options: TablesOptions) => {
      const { listTables } = await import('../run-tables.ts')
      await listTables(options)
    })

  tables
    .command('create')
    .summary('create a table')
    .description('Creates a table and prints its id.')
    .argument('<name>', 'name of the table')
    .addOption(
      new Option(
        '--type <type>',
        'kind of table, sent as settings.type; without it the service decides',
      ).choices(['extraction', 'reconcile', 'storage']),
    )
    .option('--schema <file>', 'JSON object sent as settings.schema')
    .option('--settings <file>', 'JSON object with all settings')
    .option(...projectOption)
    .option(...baseUrlOption)
    .option('--json', 'print JSON: the table as the service spells it')
    .action(async (name: string, options: CreateOptions) => {
      const { createTable } = await import('../run-tables.ts')
      await createTable(name, options)
    })

  tables
    .command('schema')
    .summary('show the fields of a table')
    .description('Shows the fields of a table.')
    .argument('<table>', 'name or id')
    .option(...projectOption)
    .option(...baseUrlOption)
    .option('--json', 'print JSON: the schema as the service spells it')
    .action(async (table: string, options: TablesOptions) => {
      const { showSchema } = await import('../run-tables.ts')
      await showSchema(table, options)
    })

  addOwnServiceOptions(tables.command('rm').summary('remove a table of a service of your own'))
    .description(
      'Removes a table of a service of your own with all rows, runs and documents in it, permanently.',
    )
    .argument('<project>', 'name of the project')
    .argument('<table>', 'name or id')
    .action((project: string, table: string, options: OwnServiceOptions) =>
      withAdminOf(options, (admin) => admin.removeTable(project, table)),
    )

  tables
    .command('store')
    .summary('create a storage table holding a document')
    .description('Creates a storage table, uploads a document into it and prints the id of the document.')
    .argument('<name>', 'name of the new table')
    .argument('<local>', 'the file, - for standard input')
    .option('--mimetype <type>', 'send it as this type, whatever its name')
    .option('--zero-retention', 'ask the service not to keep the content')
    .option(...projectOption)
    .option(...baseUrlOption)
    .option('--json', "print JSON: the service's answer")
    .action(async (name: string, local: string, options: StoreOptions) => {
      const { storeDocument } = await import('../run-tables.ts')
      await storeDocument(name, local, options)
    })
}
