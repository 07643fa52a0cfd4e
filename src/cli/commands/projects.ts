// `docmount projects`: the projects the key may see.

import type { Command } from 'commander'
import { type ServiceOptions, baseUrlOption, withClient } from '../connect.ts'
import { printJson, printTable } from '../output.ts'

const help = `
Examples:
  $ docmount projects
  $ docmount projects --json | jq -r '.[].name'`

export function register(program: Command): void {
  program
    .command('projects')
    .summary('list the projects the key may see')
    .description('Lists the projects the key may see.')
    .option(...baseUrlOption)
    .option('--json', 'print JSON: an array of {id, name, created_at}')
    .addHelpText('after', help)
    .action(async (options: ServiceOptions & { json?: boolean }) => {
      const projects = await withClient(undefined, options, (client, signal) => client.projects({ signal }))
      if (options.json === true) {
        printJson(projects.map(({ id, name, createdAt }) => ({ id, name, created_at: createdAt })))
      } else {
        const rows = projects.map(({ id, name, createdAt }) => [name, createdAt, id])
        printTable(['NAME', 'CREATED', 'ID'], rows)
      }
    })
}
