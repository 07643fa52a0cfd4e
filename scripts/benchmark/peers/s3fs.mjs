// `s3fs` with a local S3 server: the npm package s3rver, installed into the run's folder.

import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { warmFiles } from '../machine.mjs'
import { freePort, listensAt, parallel, runWell, startProgram } from '../processes.mjs'
import { emptyFolder, firstLineOf, missing, mountBy, sizesIn } from './shared.mjs'

const bucket = 'bench'
const objectSuffix = '._S3rver_object'

export const s3fs = {
  name: 's3fs',
  absence: () => missing({ s3fs: 's3fs' }),
  version: () => firstLineOf('s3fs', '--version'),
  async start({ folder, data, proxy, undo }) {
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    const install = ['install', '--no-audit', '--no-fund', 's3rver@3.7.1']
    await runWell('npm', install, { cwd: folder, limitSeconds: 120 })
    const objects = join(folder, 'objects')
    await parallel(data.paths, 8, async (path) => {
      const object = join(objects, bucket, `${path}${objectSuffix}`)
      await mkdir(dirname(object), { recursive: true })
      await cp(join(data.project, path), object)
    })
    const port = await freePort()
    const place = ['-d', objects, '-a', '127.0.0.1', '-p', String(port), '-s', '--no-vhost-buckets']
    const access = ['--allow-mismatched-signatures', '--configure-bucket', bucket]
    const args = [join(folder, 'node_modules/s3rver/bin/s3rver.js'), ...place, ...access]
    const program = startProgram(process.execPath, args, { logFile: join(folder, 's3rver.log') })
    undo.push(() => program.stop())
    await listensAt(port, program)
    await writeFile(join(folder, 'password'), 'S3RVER:S3RVER\n', { mode: 0o600 })
    return {
      url: `http://127.0.0.1:${await proxy.open(port)}`,
      password: join(folder, 'password'),
      warm: () => warmFiles(objects),
      async holds(path) {
        const kept = [...(await sizesIn(join(objects, bucket, path)))]
        const stored = kept.filter(([name]) => name.endsWith(objectSuffix) && name !== objectSuffix)
        return new Map(stored.map(([name, size]) => [name.slice(0, -objectSuffix.length), size]))
      },
    }
  },
  mount({ mountpoint, folder, server }) {
    const options = [
      `passwd_file=${server.password}`,
      `url=${server.url}`,
      'use_path_request_style',
      `use_cache=${join(folder, 'cache')}`,
    ].flatMap((option) => ['-o', option])
    return mountBy('s3fs', [bucket, mountpoint, '-f', ...options], { mountpoint, folder })
  },
  emptyCache: emptyFolder('cache'),
}
