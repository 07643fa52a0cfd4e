// Functions that most peers share.

import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isMounted, processTree, unmount, warmFiles } from '../machine.mjs'
import { has, run, startProgram, waitFor } from '../processes.mjs'
import { startRclone } from '../servers.mjs'

/** Returns why a peer cannot run here: the first missing program and its package; undefined if none is missing. */
export async function missing(packages) {
  for (const [program, name] of Object.entries(packages))
    if (!(await has(program))) return `not installed (apt-get install ${name})`
}

export async function firstLineOf(command, argument) {
  return (await run(command, [argument])).output.split('\n')[0]
}

/** Mounts by a program that stays in the foreground. */
export async function mountBy(command, args, { mountpoint, folder }) {
  await mkdir(mountpoint, { recursive: true })
  const program = startProgram(command, args, { logFile: join(folder, `${command}.log`) })
  await waitFor(`${command} mounts`, () => isMounted(mountpoint), { program })
  return {
    pids: () => processTree(program.pid),
    async unmount() {
      await unmount(mountpoint)
      await program.stop(30)
    },
  }
}

export function emptyFolder(name) {
  return async (folder) => {
    await rm(join(folder, name), { recursive: true, force: true })
    await mkdir(join(folder, name), { recursive: true })
  }
}

/** Copies the project for one peer, so that peers do not change each other's files. */
export async function copyProject(data, folder) {
  const root = join(folder, 'project')
  await cp(data.project, root, { recursive: true })
  return { root, warm: () => warmFiles(root), holds: (path) => sizesIn(join(root, path)) }
}

/** Returns the sizes of the files in a folder, by name. */
export async function sizesIn(folder) {
  const sizes = new Map()
  for (const name of await readdir(folder).catch(() => [])) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found?.isFile()) sizes.set(name, found.size)
  }
  return sizes
}

/** Starts `rclone serve webdav` over a plain folder: the server of rclone and davfs2. */
export async function startWebdavServer({ folder, data, proxy, undo }) {
  const project = await copyProject(data, folder)
  const server = await startRclone(folder, project.root)
  undo.push(server.stop)
  return { ...project, url: `http://127.0.0.1:${await proxy.open(server.port)}/` }
}
