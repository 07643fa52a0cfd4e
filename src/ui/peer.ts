// Whose program is at the other end of a connection within this machine, as the kernel's table of sockets tells
// (proc_pid_net(5)): an address may be read by every user of the machine, this may not be lied about.

import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

const known = new WeakMap<Socket, Promise<number | undefined>>()

/** Its user; undefined where the kernel does not tell. Asked once per connection. */
export function userAtOtherEnd(socket: Socket): Promise<number | undefined> {
  const asked = known.get(socket) ?? look(socket)
  known.set(socket, asked)
  return asked
}

async function look({ remotePort, localPort }: Socket): Promise<number | undefined> {
  if (remotePort === undefined || localPort === undefined) return undefined
  const table = await readFile('/proc/self/net/tcp', 'utf8').catch(() => '')
  for (const line of table.split('\n')) {
    const [, local, remote, , , , , uid] = line.trim().split(/\s+/)
    if (portOf(local) === remotePort && portOf(remote) === localPort) return Number(uid)
  }
  return undefined
}

/** `0100007F:1F90` */
function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(':')[1] ?? '', 16)
}
