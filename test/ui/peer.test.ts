// Whose program is at the other end of a connection to the page.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { userAtOtherEnd, userIn } from '../../src/ui/peer.ts'

/** A row of /proc/net/tcp, of which only four columns count. */
const row = (local: string, remote: string, state: string, uid: number): string =>
  `   1: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${uid}        0 1 1 0 100 0 0 10 0`

const connection = {
  localAddress: '127.0.0.1',
  localPort: 0x1f90,
  remoteAddress: '127.0.0.2',
  remotePort: 0xa001,
}
const ours = row('0100007F:1F90', '0200007F:A001', '01', 0)

test('a connection of somebody else between the same ports, at another address, is not taken for it', () => {
  const others = [
    row('0100007F:A001', '0300007F:1F90', '01', 500),
    row('0200007F:A001', '0300007F:1F90', '01', 500),
  ]
  const theirs = row('0200007F:A001', '0100007F:1F90', '01', 1000)
  expect(userIn([ours, ...others, theirs].join('\n'), connection)).toBe(1000)
  expect(userIn([ours, ...others].join('\n'), connection)).toBeUndefined()
})

test('an end that its program has closed is nobody’s, though the kernel lists it as root’s', () => {
  for (const state of ['04', '05', '06'])
    expect(
      userIn([row('0200007F:A001', '0100007F:1F90', state, 0), ours].join('\n'), connection),
    ).toBeUndefined()
})

test('the kernel tells who is there, and who has gone', async () => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = async (leaves: boolean): Promise<Socket> => {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [socket] = (await once(server, 'connection')) as [Socket]
    socket.on('close', () => client.destroy())
    if (leaves) await once(client.destroy(), 'close')
    return socket
  }
  const [there, gone] = [await accepted(false), await accepted(true)]
  expect(await userAtOtherEnd(there)).toBe(process.getuid?.())
  expect(await userAtOtherEnd(gone)).toBe('gone')
  for (const socket of [there, gone]) socket.destroy()
  await new Promise((done) => server.close(done))
})
