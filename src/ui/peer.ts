// The user of the program at the other end of a local connection, from the kernel's socket table (proc_pid_net(5)). Another
// user may have read the page's address and token, but cannot fake this.

import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

const known = new WeakMap<Socket, Promise<number | undefined>>()

/** Resolves with the user id; undefined if the kernel does not tell. Looked up once per connection. */
export function userAtOtherEnd(socket: Socket): Promise<number | undefined> {
  const user = known.get(socket) ?? findUser(socket)
  known.set(socket, user)
  return user
}

async function findUser({ remotePort, localPort }: Socket): Promise<number | undefined> {
  if (remotePort === undefined || localPort === undefined) return undefined
  const table = await readFile('/proc/self/net/tcp', 'utf8').catch(() => '')
  for (const line of table.split('\n')) {
    const [, local, remote, , , , , uid] = line.trim().split(/\s+/)
    if (portOf(local) === remotePort && portOf(remote) === localPort) return Number(uid)
  }
  return undefined
}

/** Parses the port of `0100007F:1F90`. */
function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(':')[1] ?? '', 16)
}
