// The servers that are measured, as processes of their own, and the processor time they took.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const main = new URL('../../dist/cli/main.js', import.meta.url).pathname
const ticksPerSecond = Number(spawnSync('getconf', ['CLK_TCK']).stdout.toString())

/** The embedded store in `folder`. `withMetrics`: counted, and with a `metricsUrl`. */
export async function startService(folder, { projects = ['bench', 'other'], withMetrics = false } = {}) {
  const dataDir = join(folder, 'service')
  const place = ['--data', dataDir, ...(withMetrics ? ['--metrics-listen', '127.0.0.1:0'] : [])]
  const served = await serve(place, projects, join(folder, 'service.log'))
  return {
    ...served,
    dataDir,
    backUp: async () => {
      const backup = ['backup', join(folder, 'backup'), '--data', dataDir]
      const [code] = await once(spawn(process.execPath, [main, ...backup], { stdio: 'ignore' }), 'exit')
      if (code !== 0) throw new Error(`the backup ended with ${code}`)
    },
  }
}

/** One of several nodes; keys are those of projects it makes. */
export function startNode({ database, blobs, env, log }, projects = []) {
  return serve(['--database', database, '--blobs', blobs], projects, log, env)
}

async function serve(place, projects, log, env = {}) {
  const names = projects.flatMap((name) => ['--project', name])
  const args = ['serve', ...place, '--listen', '127.0.0.1:0', '--json', ...names]
  const child = spawn(process.execPath, [main, ...args], {
    // Its log goes where a host's would.
    stdio: ['ignore', 'pipe', openSync(log, 'a')],
    env: { ...process.env, ...env },
  })
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    if (text.includes('\n')) break
  }
  if (!text.includes('\n')) throw new Error(readFileSync(log, 'utf8'))
  child.stdout.resume()
  const { base_url: baseUrl, metrics_url: metricsUrl, projects: made } = JSON.parse(text)
  const keyOf = (name) => made.find((project) => project.name === name)?.api_key
  return {
    ...serverOf(child, Number(new URL(baseUrl).port)),
    baseUrl,
    metricsUrl,
    keyOf,
    key: keyOf('bench'),
    otherKey: keyOf('other'),
  }
}

export async function startRclone(folder) {
  if (spawnSync('rclone', ['version']).status !== 0) return undefined
  const port = await freePort()
  const root = join(folder, 'rclone')
  mkdirSync(root)
  const child = spawn(
    'rclone',
    ['serve', 'webdav', root, '--addr', `127.0.0.1:${port}`, '--vfs-cache-mode', 'off'],
    {
      stdio: ['ignore', 'ignore', 'ignore'],
    },
  )
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    if (answer !== undefined) return serverOf(child, port)
    await sleep(100)
  }
  throw new Error('rclone did not start')
}

/** Of a process so far, with those that it started and that have ended; 0 for one that is gone. */
export function processSeconds(pid, { withEnded = false } = {}) {
  let stat
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return 0
  }
  const [user, system, endedUser, endedSystem] = stat.split(') ')[1].split(' ').slice(11, 15).map(Number)
  return (user + system + (withEnded ? endedUser + endedSystem : 0)) / ticksPerSecond
}

function serverOf(child, port) {
  return {
    port,
    processorSeconds: () => processSeconds(child.pid),
    /** From here on `peakMegabytes` begins anew. */
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, '5'),
    /** Most memory it ever had, MB. */
    peakMegabytes: () =>
      Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024),
    stop: async () => {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}
