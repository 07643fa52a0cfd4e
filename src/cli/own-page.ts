// The page of `docmount mount --ui`: `docmount ui` in a process of its own, because the process of a drive never touches what may
// lie on its mount. It ends when its standard input does, so with the drive, however that ends.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { backgroundVariable } from '../daemon/background-start.ts'
import { childEnvironment } from '../child-environment.ts'

export interface OwnPage {
  /** With its token; undefined if the page could not be served. */
  readonly address: string | undefined
  isOver(): boolean
  end(): void
}

/** Resolves when the page is served. `opens`: in a browser, if there is a desktop. Never rejects: the drive works without it. */
export async function startOwnPage({ opens }: { readonly opens: boolean }): Promise<OwnPage> {
  // Drives that the page mounts are not the daemon that this variable marks.
  const { [backgroundVariable]: _background, ...env } = childEnvironment()
  const page = spawn(
    process.execPath,
    [await realpath(process.argv[1] as string), 'ui', '--until-stdin-ends', ...(opens ? [] : ['--no-open'])],
    {
      cwd: '/',
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  page.on('error', () => {})
  page.stdin.on('error', () => {})
  const lines = createInterface({ input: page.stdout })
  const address = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    once(page, 'exit').then(() => undefined),
  ]).catch(() => undefined)
  lines.close()
  page.stdout.destroy()
  page.unref()
  return {
    address,
    isOver: () => page.exitCode !== null || page.signalCode !== null,
    end: () => page.stdin.end(),
  }
}
