// The connection through a program that holds /dev/fuse, where that program ends first.

import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { RelayChannel } from '../../src/fuse/kernel/relay-channel.ts'

it('an answer that is written as the program ends is no failure of the connection, which is closed then', async () => {
  // Takes nothing of what it is told, and goes.
  const child = spawn(process.execPath, ['-e', 'require("fs").closeSync(3); setTimeout(() => {}, 60_000)'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  try {
    const [requests, notifications] = child.stdio.slice(3) as unknown as [Socket, Socket]
    for (const socket of [requests, notifications]) socket.on('error', () => {})
    const channel = new RelayChannel({ child, requests, notifications }, () => undefined)
    while (channel.send(new Uint8Array(16), 16)) await new Promise((resolve) => setTimeout(resolve, 5))
    await expect(channel.closed).resolves.toBeUndefined()
    expect(channel.send(new Uint8Array(16), 16)).toBe(false)
  } finally {
    child.kill()
  }
})
