// Options for the connection to the service, also in the config file: a proxy, and a certificate authority to trust.

import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { proxiesOf } from '../world/proxy.ts'

export function networkOptions(): Option[] {
  return [
    new Option(
      '--proxy <url>',
      'an HTTP proxy, or none (default: $HTTPS_PROXY, $HTTP_PROXY); one with a password belongs in the config file',
    ).argParser(parseProxy),
    new Option('--ca-file <file>', 'certificate authority of your own (PEM) to trust as well').argParser(
      (file: string) => resolve(file),
    ),
  ]
}

export function addNetworkOptions(command: Command): Command {
  for (const option of networkOptions()) command.addOption(option)
  return command
}

function parseProxy(text: string): string {
  try {
    proxiesOf(text)
  } catch {
    throw new InvalidArgumentError('Write http://HOST:PORT, HOST:PORT, or none.')
  }
  return text
}
