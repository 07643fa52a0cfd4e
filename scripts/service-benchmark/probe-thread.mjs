// Asks /api/ready on one new connection after another, and answers how long each took, in milliseconds.

import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const { port, seconds } = workerData
const times = []
for (const untilMs = performance.now() + seconds * 1000; performance.now() < untilMs;)
  times.push(await probe())
parentPort.postMessage(times, [])

/** From the connection's beginning to the answer. */
function probe() {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /api/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    socket.once('data', (answer) => {
      socket.destroy()
      if (answer.toString().startsWith('HTTP/1.1 200')) resolve(performance.now() - begun)
      else reject(new Error(answer.toString()))
    })
    socket.once('error', reject)
  })
}
