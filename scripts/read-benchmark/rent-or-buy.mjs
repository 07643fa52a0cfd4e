// The simulation behind docs/bench/rent-or-buy.svg: a reader that takes no time between reads, a way with a latency and a
// pace, and a document that comes block by block, all at once, or as it is paid for.

import { writeFile } from 'node:fs/promises'
import { boughtPart } from '../../dist/content/read/rent-or-buy.js'

const mebibyte = 1024 * 1024
const blockBytes = 128 * 1024
const pieceBlocks = 32
const documentBlocks = (128 * mebibyte) / blockBytes
const pieces = documentBlocks / pieceBlocks
const mostReads = 4000

const ways = [
  { name: '1 ms, 1 Gbit/s', latencyMs: 1, bytesPerMs: 125_000 },
  { name: '20 ms, 1 Gbit/s', latencyMs: 20, bytesPerMs: 125_000 },
  { name: '20 ms, 100 Mbit/s', latencyMs: 20, bytesPerMs: 12_500 },
  { name: '80 ms, 100 Mbit/s', latencyMs: 80, bytesPerMs: 12_500 },
]

/** Which block the read with this number is in. */
const patterns = {
  'at random': (at) => scattered(at) % documentBlocks,
  'forwards, every ninth block': (at) => (at * 9) % documentBlocks,
  backwards: (at) => (documentBlocks * 4 - 1 - at) % documentBlocks,
  'four in order, in turn': (at) => ((at % 4) * (documentBlocks / 4) + Math.floor(at / 4)) % documentBlocks,
  'at random in a tenth of it': (at) => scattered(at) % Math.floor(documentBlocks / 10),
  'head and tail': (at) => (at % 2) * (documentBlocks - 1),
}

function scattered(at) {
  let state = Math.imul(at + 1, 2_654_435_761) >>> 0
  state ^= state >>> 15
  return Math.imul(state, 2_246_822_519) >>> 0
}

/** Milliseconds waited after each read. */
const strategies = {
  /** Every block costs a request. */
  'only what is read'(pattern, { latencyMs, bytesPerMs }) {
    const here = new Set()
    let waitedMs = 0
    return reads((at) => {
      const block = pattern(at)
      if (!here.has(block)) waitedMs += latencyMs + blockBytes / bytesPerMs
      here.add(block)
      return waitedMs
    })
  },
  'everything first': (_pattern, way) => reads(() => way.latencyMs + priceOf(way)),
  /** Bought blocks come while the reader waits, behind the block it waits for. */
  'as it is paid for'(pattern, way) {
    const { latencyMs, bytesPerMs } = way
    const here = new Set()
    const asked = new Set()
    const onTheWay = []
    const waitMs = latencyMs + blockBytes / bytesPerMs
    let waitedMs = 0
    let misses = 0
    return reads((at) => {
      const block = pattern(at)
      if (here.has(block)) return waitedMs
      misses++
      waitedMs += waitMs
      here.add(block)
      let carriedBytes = latencyMs * bytesPerMs
      while (onTheWay.length > 0 && carriedBytes >= blockBytes) {
        carriedBytes -= blockBytes
        here.add(onTheWay.shift())
      }
      const account = { paidMs: waitedMs, misses, shortestMs: waitMs }
      const until = Math.floor(boughtPart(account, priceOf(way)) * pieces)
      for (let piece = Math.floor(block / pieceBlocks); asked.size < until; piece = (piece + 1) % pieces) {
        if (asked.has(piece)) continue
        asked.add(piece)
        for (let next = piece * pieceBlocks; next < (piece + 1) * pieceBlocks; next++)
          if (!here.has(next)) onTheWay.push(next)
      }
      return waitedMs
    })
  },
}

function priceOf({ bytesPerMs }) {
  return (documentBlocks * blockBytes) / bytesPerMs
}

function reads(waitedAfter) {
  return Array.from({ length: mostReads }, (_, at) => waitedAfter(at))
}

const outcomes = Object.entries(patterns).map(([name, pattern]) => ({
  name,
  cells: ways.map((way) =>
    Object.fromEntries(Object.entries(strategies).map(([key, strategy]) => [key, strategy(pattern, way)])),
  ),
}))

const seconds = (ms) => (ms / 1000).toPrecision(2)
console.log(
  `| seconds waited for ${mostReads.toLocaleString('en')} reads; at worst × the better | ${ways.map(({ name }) => name).join(' | ')} |`,
)
console.log(`|---|${ways.map(() => '--:').join('|')}|`)
for (const { name, cells } of outcomes) {
  const texts = cells.map((cell) => {
    const [only, all, ours] = Object.keys(strategies).map((key) => cell[key])
    const worst = Math.max(...ours.map((ms, at) => ms / Math.min(only[at], all[at])))
    return `${seconds(ours.at(-1))} (${seconds(only.at(-1))}, ${seconds(all.at(-1))}); ${worst.toFixed(1)}×`
  })
  console.log(`| ${name} | ${texts.join(' | ')} |`)
}
await writeFile(process.argv[2], plot())

function plot() {
  const [width, height, left, top, gap] = [210, 130, 190, 56, 22]
  const colours = {
    'only what is read': '#c2410c',
    'everything first': '#1d4ed8',
    'as it is paid for': '#15803d',
  }
  const parts = []
  const text = (x, y, content, more = '') => parts.push(`<text x="${x}" y="${y}" ${more}>${content}</text>`)
  const x = (at) => (Math.log10(at + 1) / Math.log10(mostReads)) * width
  outcomes.forEach(({ name, cells }, row) => {
    const y0 = top + row * (height + gap)
    text(left - 10, y0 + height / 2, name, 'text-anchor="end"')
    cells.forEach((cell, column) => {
      const x0 = left + column * (width + gap)
      const all = Object.values(cell).flat()
      const [least, most] = [Math.log10(ways[column].latencyMs), Math.log10(Math.max(...all))]
      const y = (ms) => height - ((Math.log10(ms) - least) / (most - least)) * height
      parts.push(
        `<g transform="translate(${x0} ${y0})"><rect width="${width}" height="${height}" fill="none" stroke="#bbb"/>`,
      )
      for (const [key, waited] of Object.entries(cell)) {
        const points = []
        for (let at = 0; at < mostReads; at = Math.max(at + 1, Math.floor(at * 1.06)))
          points.push(`${x(at).toFixed(1)},${y(waited[at]).toFixed(1)}`)
        parts.push(
          `<polyline points="${points.join(' ')}" fill="none" stroke="${colours[key]}" stroke-width="1.6"/>`,
        )
      }
      text(4, 12, `${seconds(Math.max(...all))} s`, 'fill="#777"')
      parts.push('</g>')
      if (row === 0) text(x0, top - 8, ways[column].name)
    })
  })
  Object.entries(colours).forEach(([key, colour], at) =>
    text(left + at * 170, 20, key, `fill="${colour}" font-weight="bold"`),
  )
  text(left + 3 * 170, 20, `seconds waited (log) after 1 … ${mostReads} reads (log)`)
  const size = [left + ways.length * (width + gap), top + outcomes.length * (height + gap)]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" font-family="sans-serif" font-size="12" role="img">
<title>Renting, buying, and buying as it is paid for</title><rect width="100%" height="100%" fill="#fff"/>
${parts.join('\n')}
</svg>
`
}
