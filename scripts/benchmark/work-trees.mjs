// One service, and docmount from the built work trees that are compared.

import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMounted, unmount } from './mounts.mjs'
import { startDaemon } from './peers/docmount.mjs'
import { freePort, runWell, sleep, startProgram, waitFor } from './processes.mjs'
import { startProxy } from './proxy.mjs'
import { costsOf, processTree } from './resources.mjs'
import { scheme, serveWithTls } from './tls.mjs'

/** The service of one tree, in `folder`, reached through a proxy after `delayMs`, at `megabits` a second (absent: no limit). `undo`: what ends it all, newest last. */
export async function startServiceOf(root, { folder, project, delayMs, megabits, undo }) {
  const dataDir = join(folder, 'service')
  const port = await freePort()
  const listen = ['--listen', `127.0.0.1:${port}`, '--project', project, '--json', ...serveWithTls]
  const log = { logFile: join(folder, 'service.log') }
  const service = startProgram(process.execPath, [cliOf(root), 'serve', '--data', dataDir, ...listen], log)
  undo.push(() => service.stop())
  const [line] = await once(service.child.stdout, 'data')
  const { base_url: direct, projects } = JSON.parse(String(line).split('\n')[0])
  const key = projects[0].api_key
  const { createClient } = await import(join(root, 'dist/api/index.js'))
  const client = createClient({ baseUrl: direct, apiKey: key })
  undo.push(() => client.close())
  const proxy = startProxy()
  undo.push(() => proxy.stop())
  const proxied = await proxy.open(port)
  await proxy.setLink({ delayMs, megabits })
  return {
    baseUrl: `${scheme}://127.0.0.1:${proxied}/api`,
    key,
    project,
    dataDir,
    files: client.files(project),
  }
}

/** Mounts by a tree's program; `folder` keeps its state, its cache and its log. Answers when the start is over. */
export async function mountTree(root, folder, server, undo, args = []) {
  const mountpoint = join(folder, 'mount')
  await mkdir(mountpoint, { recursive: true })
  const started = startDaemon(cliOf(root), { mountpoint, folder, server, args })
  const end = async () => {
    if (started.isRunning()) await started.stop(60)
    if (await isMounted(mountpoint)) await unmount(mountpoint, { limitSeconds: 5 })
  }
  undo.push(end)
  await waitFor('docmount mount', () => isMounted(mountpoint), { program: started })
  const pids = () => processTree(started.pid)
  await runWell('ls', ['-l', mountpoint])
  await restOf(pids)
  return { mountpoint, pids, pid: started.pid, unmount: end }
}

/** Waits until the processor is at rest: what a start reads and compiles, and what follows a save, is over. */
export async function restOf(pids) {
  let cpuSeconds = -1
  for (let tries = 0; tries < 30 && costsOf(pids()).cpuSeconds !== cpuSeconds; tries++) {
    cpuSeconds = costsOf(pids()).cpuSeconds
    await sleep(500)
  }
}

/** A folder to work in, and what is to be undone in the end, newest last: also by Ctrl-C, which ends the process. */
export async function makeWork(name) {
  const work = await mkdtemp(join(tmpdir(), `docmount-${name}-`))
  await chmod(work, 0o755)
  const undo = []
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void undoAll(undo, work).finally(() => process.exit(130)))
  return { work, undo }
}

/** Undoes everything, the latest first, and removes the folder. */
export async function undoAll(undo, folder) {
  while (undo.length > 0)
    await undo
      .pop()()
      .catch((error) => console.error(error.message))
  await rm(folder, { recursive: true, force: true })
}

export function medianOf(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function cliOf(root) {
  return join(root, 'dist/cli/main.js')
}
