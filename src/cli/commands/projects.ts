// `docmount projects`: lists the projects the key may see, and manages those of the user's own service.

import type { Command } from 'commander'
import { type ServiceOptions, baseUrlOption } from '../connect.ts'
import { type OwnServiceOptions, addOwnServiceOptions, withAdminOf } from '../own-service.ts'
import { type JsonOption, print } from '../output.ts'

const help = `
Examples:
  $ docmount projects
  $ docmount projects --json | jq -r '.[].name'
  $ docmount projects create invoices --data ~/documents      in a service of your own; prints its first key
  $ docmount projects rm invoices --data ~/documents          and everything in it, permanently
  $ docmount projects list --data ~/documents`

export function register(program: Command): void {
  const projects = program
    .command('projects')
    .summary('list the projects the key may see, and where they are mounted')
    .description(
      'Lists the projects the key may see and those of the config file: where each is mounted, and its state.',
    )
    .option(...baseUrlOption)
    .option('--json', 'print JSON: an array of {id, name, created_at, mounts}, of those the key may see')
    .addHelpText('after', help)
    .action(listProjectsOfKey)

  // `projects` has a --json, too, and commander gives it the value: subcommands read it by `optsWithGlobals`.
  const subcommand = (name: string, summary: string): Command =>
    addOwnServiceOptions(projects.command(name).summary(summary)).option('--json', 'print JSON')

  subcommand('create', 'make a project in a service of your own, and print its first key')
    .description('Makes a project in a service of your own, and prints its first key.')
    .argument('<name>', 'name of the project')
    .action((name: string, options: OwnServiceOptions, command: Command) =>
      withAdminOf(options, async (admin) => {
        const { id, key } = await admin.createProject(name)
        print(command.optsWithGlobals(), { name, key_id: id, api_key: key }, key)
      }),
    )

  subcommand('rm', 'remove a project of a service of your own and everything in it, permanently')
    .description('Removes a project of a service of your own and everything in it, permanently.')
    .argument('<name>', 'name of the project')
    .action((name: string, options: OwnServiceOptions) =>
      withAdminOf(options, (admin) => admin.removeProject(name)),
    )

  subcommand('list', 'list the projects the key may see, or with --data those of a service of your own')
    .description('Lists the projects the key may see, or with --data those of a service of your own.')
    .alias('ls')
    .action((options: OwnServiceOptions, command: Command) => {
      if (options.data === undefined && options.database === undefined)
        return listProjectsOfKey(command.optsWithGlobals())
      return withAdminOf(options, async (admin) => {
        const found = (await admin.listProjects()).map(({ id, name, createdAt }) => ({
          id,
          name,
          created_at: new Date(createdAt).toISOString(),
        }))
        print(command.optsWithGlobals(), found, found.map(({ name }) => name).join('\n'))
      })
    })
}

async function listProjectsOfKey(options: ServiceOptions & JsonOption): Promise<void> {
  const { runProjects } = await import('../run-projects.ts')
  await runProjects(options)
}
