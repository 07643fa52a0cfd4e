// `docmount serve`: runs the reference service in the foreground until a signal ends it.

import { type Command, InvalidArgumentError } from 'commander'
import type { AnnouncedProject, Service } from '../../service/index.ts'

interface ServeOptions {
  readonly data: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly project: readonly string[]
  readonly json?: boolean
  readonly allowPrivateUris?: boolean
  readonly verbose?: boolean
}

const help = `
Projects are made where missing, each with an API key that is shown this once; docmount keys makes more.
Everything is kept in the data folder: a database, the documents' content, the secret of download links.

Examples:
  $ docmount serve --data ~/documents --project acme
  $ docmount serve --data ~/documents --listen 0.0.0.0:8080     for other machines too
  $ docmount serve --data /tmp/d --listen 127.0.0.1:0 --project acme --json
    {"base_url":"http://127.0.0.1:40211/api","projects":[{"name":"acme","api_key":"…"}]}`

export function register(program: Command): void {
  program
    .command('serve')
    .summary('run a document service of your own')
    .description('Runs a document service over a folder of this machine until Ctrl-C or SIGTERM.')
    .requiredOption('--data <dir>', 'folder for everything the service keeps')
    .option(
      '--listen <host:port>',
      'where to listen; port 0 = any that is free',
      parseAddress,
      parseAddress('127.0.0.1:8080'),
    )
    .option('--project <name>', 'make this project where missing; may be repeated', collect, [])
    .option('--json', 'print one line of JSON once listening')
    .option('--allow-private-uris', 'let uploads by uri fetch from private addresses')
    .option('-v, --verbose', 'log more')
    .addHelpText('after', help)
    .action(async (options: ServeOptions) => {
      // A signal that comes during the start is obeyed after it.
      const signal = firstSignal()
      const [{ startService }, { openLog }] = await Promise.all([
        import('../../service/index.ts'),
        import('../../daemon/log.ts'),
      ])
      const service = await startService({
        dataDir: options.data,
        host: options.listen.host,
        port: options.listen.port,
        projects: options.project,
        allowPrivateUris: options.allowPrivateUris === true,
        log: openLog({ isVerbose: options.verbose === true }),
      })
      console.log(options.json === true ? announcement(service) : greeting(service))
      await signal
      await service.close()
    })
}

function announcement({ baseUrl, projects }: Service): string {
  return JSON.stringify({
    base_url: baseUrl,
    projects: projects.map(({ name, apiKey }) => ({
      name,
      ...(apiKey === undefined ? {} : { api_key: apiKey }),
    })),
  })
}

function greeting({ baseUrl, projects }: Service): string {
  if (projects.length === 0) {
    return `The service listens at ${baseUrl} and has no project yet: start it with --project NAME.`
  }
  const keyed = projects.find((project) => project.apiKey !== undefined)
  const shown = keyed ?? projects[0]!
  return [
    `The service listens at ${baseUrl} until Ctrl-C.`,
    ...projects.map(describe),
    '',
    'In another terminal:',
    `  export DOCMOUNT_BASE_URL=${baseUrl}`,
    `  export DOCMOUNT_API_KEY=${keyed?.apiKey ?? 'KEY'}`,
    `  docmount mount ${shown.name}`,
  ].join('\n')
}

function describe({ name, apiKey }: AnnouncedProject): string {
  return apiKey === undefined
    ? `  project ${name}   (a new key: docmount keys create ${name} --data DIR)`
    : `  project ${name}   key ${apiKey}   (shown this once)`
}

/** A second signal ends the process at once, as signals do when nobody listens. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}

function parseAddress(text: string): ServeOptions['listen'] {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (match === null || port > 65_535)
    throw new InvalidArgumentError('Write HOST:PORT, for instance 127.0.0.1:8080.')
  const host = match[1] ?? match[2] ?? ''
  return { host: host === '' ? '127.0.0.1' : host, port }
}

function collect(name: string, names: readonly string[]): string[] {
  return [...names, name]
}
