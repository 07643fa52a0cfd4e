// The user of the program at the other end of a local connection, from the kernel's socket table (proc_pid_net(5)). Another
// user may have read the page's address and token, but cannot fake this.

import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

/** The four values of an IPv4 connection, as Node names them. */
export type Connection = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>

const known = new WeakMap<Socket, Promise<number | 'gone' | undefined>>()

/** State of a connection that both programs hold open. A socket that its program has closed is listed as root's. */
const established = '01'

/** Resolves with the user id; `gone` if that program has closed its end; undefined without a socket table. Looked up once per connection. */
export function userAtOtherEnd(socket: Socket): Promise<number | 'gone' | undefined> {
  const user = known.get(socket) ?? findUser(socket)
  known.set(socket, user)
  return user
}

async function findUser(socket: Socket): Promise<number | 'gone' | undefined> {
  const table = await readFile('/proc/self/net/tcp', 'utf8').catch(() => undefined)
  return table === undefined ? undefined : (userIn(table, socket) ?? 'gone')
}

/** Returns the user id of the other end of a connection in the text of /proc/net/tcp; undefined if that end is not established. */
export function userIn(
  table: string,
  { localAddress, localPort, remoteAddress, remotePort }: Connection,
): number | undefined {
  const [here, there] = [inTable(localAddress, localPort), inTable(remoteAddress, remotePort)]
  for (const line of table.split('\n')) {
    const [, local, remote, state, , , , uid] = line.trim().split(/\s+/)
    if (local === there && remote === here && state === established) return Number(uid)
  }
  return undefined
}

/** Returns `0100007F:1F90` for 127.0.0.1, port 8080: the address is a number in the byte order of this machine. */
function inTable(address = '', port = 0): string {
  const number = new Uint32Array(Uint8Array.from(address.split('.').map(Number)).buffer)[0] ?? 0
  const hex = (value: number, digits: number): string =>
    value.toString(16).toUpperCase().padStart(digits, '0')
  return `${hex(number, 8)}:${hex(port, 4)}`
}
