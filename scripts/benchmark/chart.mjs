// The medians as a picture for the README: one line per workload, a mark per program, seconds on a logarithmic scale.

import { ratioOf } from './table.mjs'

const charted = {
  'list-cold': 'ls -lR of 10,000 files',
  'flat-cold': 'ls -l of a folder of 10,000',
  'sequential-cold': 'read 256 MiB',
  'sequential-remount': 'read it again after a remount',
  random: '256 random reads of 4 KiB',
  heads: 'first 64 KiB of 500 files',
  grep: 'grep -r over 1,000 files',
  'copy-in': 'copy 500 files in',
  'copy-in-stored': '… until the server has them',
  remove: 'rm -r of 500 files',
  'write-stored': 'write 256 MiB until stored',
  'save-over-stored': 'save over 10 files until stored',
}

const colours = { rclone: '#8250df', sshfs: '#bf8700', s3fs: '#1a7f37', davfs2: '#cf222e' }
const own = '#0969da'
const width = 760
const left = 230
const right = 90
const rowHeight = 26
const font = 'font-family="system-ui, -apple-system, Segoe UI, sans-serif"'

/** One panel per delay, below one another. */
export function chartOf(medians, { delaysMs, peers }) {
  const parts = []
  let top = 56
  for (const delayMs of delaysMs) {
    const panel = panelOf(medians[delayMs] ?? {}, { delayMs, peers, top })
    parts.push(panel.svg)
    top = panel.bottom + 34
  }
  const height = top - 10
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Seconds per workload, docmount and its peers">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    legend(peers),
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function panelOf(values, { delayMs, peers, top }) {
  const rows = Object.entries(charted).filter(([row]) => values[row] !== undefined)
  const seconds = rows
    .flatMap(([row]) => Object.values(values[row]))
    .filter((value) => typeof value === 'number')
  const low = Math.floor(Math.log10(Math.min(...seconds, 1)))
  const high = Math.ceil(Math.log10(Math.max(...seconds, 1)))
  const x = (value) => left + ((Math.log10(value) - low) / (high - low)) * (width - left - right)
  const bottom = top + 24 + rows.length * rowHeight
  const svg = [text(left, top, `${delayMs} ms of network delay`, { weight: 600, size: 14 })]
  svg.push(text(width - 24, top, 'against the best', { size: 11, anchor: 'end', fill: '#57606a' }))
  for (let power = low; power <= high; power++) {
    const at = x(10 ** power)
    svg.push(`<line x1="${at}" y1="${top + 12}" x2="${at}" y2="${bottom}" stroke="#d0d7de"/>`)
    svg.push(text(at, bottom + 14, `${10 ** power} s`, { size: 11, anchor: 'middle', fill: '#57606a' }))
  }
  rows.forEach(([row, title], index) => {
    const y = top + 30 + index * rowHeight
    const column = bestOwn(values[row])
    svg.push(text(left - 12, y + 4, title, { anchor: 'end', size: 12 }))
    svg.push(`<line x1="${left}" y1="${y}" x2="${width - right}" y2="${y}" stroke="#eaeef2"/>`)
    for (const peer of peers) {
      const value = values[row][peer]
      if (typeof value === 'number')
        svg.push(`<circle cx="${x(value)}" cy="${y}" r="5" fill="${colours[peer]}" fill-opacity="0.85"/>`)
    }
    const value = values[row][column]
    if (typeof value === 'number')
      svg.push(`<rect x="${x(value) - 6}" y="${y - 6}" width="12" height="12" rx="2" fill="${own}"/>`)
    const ratio = ratioOf(values[row], column, peers)
    if (ratio !== undefined) {
      svg.push(
        text(width - right + 12, y + 4, `${ratio.toFixed(ratio < 10 ? 1 : 0)}×`, { size: 12, weight: 600 }),
      )
    }
  })
  return { svg: svg.join('\n'), bottom: bottom + 18 }
}

/** Writes are shown with `--close-wait 0`, which is how the peers write, too. */
function bestOwn(values) {
  return values['docmount -w0'] === undefined ? 'docmount' : 'docmount -w0'
}

function legend(peers) {
  const marks = [
    `<rect x="24" y="14" width="12" height="12" rx="2" fill="${own}"/>`,
    text(42, 25, 'docmount (writing: --close-wait 0)', { size: 12 }),
  ]
  peers.forEach((peer, index) => {
    const at = 270 + index * 90
    marks.push(
      `<circle cx="${at}" cy="20" r="5" fill="${colours[peer]}"/>`,
      text(at + 10, 25, peer, { size: 12 }),
    )
  })
  marks.push(text(width - 24, 25, 'seconds; less is better', { size: 11, anchor: 'end', fill: '#57606a' }))
  return marks.join('\n')
}

function text(x, y, content, { size = 12, weight = 400, anchor = 'start', fill = '#1f2328' } = {}) {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" ${font} font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}">${escaped}</text>`
}
