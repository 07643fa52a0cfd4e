// A WebDAV server over a plain folder: `rclone serve webdav`. Two of the peers need one.

import { freePort, listensAt, startProgram } from '../processes.mjs'
import { join } from 'node:path'
import { copyProject } from './plain-folder.mjs'

export async function startWebdav({ folder, data, proxy }) {
  const project = await copyProject(data, folder)
  const port = await freePort()
  const program = startProgram(
    'rclone',
    ['serve', 'webdav', project.root, '--addr', `127.0.0.1:${port}`, '--config', join(folder, 'no-config')],
    { logFile: join(folder, 'webdav.log') },
  )
  await listensAt(port, program)
  const throughProxy = await proxy.open(port)
  return { ...project, url: `http://127.0.0.1:${throughProxy}/`, stop: () => program.stop() }
}
