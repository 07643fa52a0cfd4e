// `s3fs` over an S3 server of our own: the npm package s3rver, installed into the run's folder.

import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMounted, unmount } from '../mounts.mjs'
import { freePort, has, listensAt, run, runWell, startProgram, waitFor } from '../processes.mjs'
import { processTree } from '../resources.mjs'
import { parallel } from '../parallel.mjs'

const bucket = 'bench'
const objectSuffix = '._S3rver_object'

export const s3fs = {
  name: 's3fs',
  async absence() {
    return (await has('s3fs')) ? undefined : 'not installed (apt-get install s3fs)'
  },
  async version() {
    return (await run('s3fs', ['--version'])).output.split('\n')[0]
  },
  async start({ folder, data, proxy }) {
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    await runWell('npm', ['install', '--no-audit', '--no-fund', 's3rver@3.7.1'], {
      cwd: folder,
      limitSeconds: 120,
    })
    const objects = join(folder, 'objects')
    await parallel(data.paths, 8, async (path) => {
      const object = join(objects, bucket, `${path}${objectSuffix}`)
      await mkdir(dirname(object), { recursive: true })
      await cp(join(data.project, path), object)
    })
    const port = await freePort()
    const program = startProgram(
      process.execPath,
      [
        join(folder, 'node_modules/s3rver/bin/s3rver.js'),
        '-d',
        objects,
        '-a',
        '127.0.0.1',
        '-p',
        String(port),
        '-s',
        '--no-vhost-buckets',
        '--allow-mismatched-signatures',
        '--configure-bucket',
        bucket,
      ],
      { logFile: join(folder, 's3rver.log') },
    )
    await listensAt(port, program)
    await writeFile(join(folder, 'password'), 'S3RVER:S3RVER\n', { mode: 0o600 })
    const throughProxy = await proxy.open(port)
    return {
      url: `http://127.0.0.1:${throughProxy}`,
      password: join(folder, 'password'),
      async warm() {
        await runWell('sh', ['-c', 'find "$1" -type f -exec cat {} + > /dev/null', 'sh', objects])
      },
      async holds(path) {
        const names = await readdir(join(objects, bucket, path)).catch(() => [])
        const sizes = new Map()
        for (const name of names) {
          if (!name.endsWith(objectSuffix) || name === objectSuffix) continue
          const found = await stat(join(objects, bucket, path, name)).catch(() => undefined)
          if (found !== undefined) sizes.set(name.slice(0, -objectSuffix.length), found.size)
        }
        return sizes
      },
      stop: () => program.stop(),
    }
  },
  async mount({ mountpoint, folder, server }) {
    await mkdir(mountpoint, { recursive: true })
    const options = [
      `passwd_file=${server.password}`,
      `url=${server.url}`,
      'use_path_request_style',
      `use_cache=${join(folder, 'cache')}`,
    ]
    const program = startProgram(
      's3fs',
      [bucket, mountpoint, '-f', ...options.flatMap((option) => ['-o', option])],
      {
        logFile: join(folder, 's3fs.log'),
      },
    )
    await waitFor('s3fs', () => isMounted(mountpoint), { program })
    return {
      pids: () => processTree(program.pid),
      async unmount() {
        await unmount(mountpoint)
        await program.stop()
      },
    }
  },
  async emptyCache(folder) {
    await rm(join(folder, 'cache'), { recursive: true, force: true })
    await mkdir(join(folder, 'cache'), { recursive: true })
  },
}
