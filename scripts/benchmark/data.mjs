// Documents for the benchmarks: the same every time, written once to the local disk.

import { createCipheriv } from 'node:crypto'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const mebibyte = 1024 * 1024

/** Returns the numbers and sizes of the documents; `--quick` has about a fifth. */
export function dataShape(isQuick) {
  return isQuick
    ? {
        folders: 20,
        perFolder: 100,
        flat: 2000,
        largeBytes: 64 * mebibyte,
        scans: 100,
        notes: 200,
        copies: 100,
        memos: 100,
        randomReads: 64,
      }
    : {
        folders: 100,
        perFolder: 100,
        flat: 10_000,
        largeBytes: 256 * mebibyte,
        scans: 500,
        notes: 1000,
        copies: 500,
        memos: 500,
        randomReads: 256,
      }
}

/** Size of a scan. Benchmarks read only its first 64 KiB. */
export const scanBytes = 2 * mebibyte
/** Size of a large scanned document, of which a viewer reads small pieces. */
const scannedBytes = 34_000_000
export const noteBytes = 8 * 1024
export const reports = 10
export const memoBytes = 2000
const reportBytes = 256 * 1024

/** Writes the project's documents to `folder`/project, and files that workloads copy into the drive to `folder`/source. */
export async function makeData(folder, shape) {
  const project = join(folder, 'project')
  const source = join(folder, 'source')
  const paths = []
  const put = async (root, path, bytes) => {
    const file = join(root, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, bytes)
    if (root === project) paths.push(`/${path}`)
  }
  for (let at = 0; at < shape.folders * shape.perFolder; at++) {
    const [above, below] = [Math.floor(at / shape.perFolder), at % shape.perFolder]
    await put(project, `tree/folder-${digits(above, 3)}/entry-${digits(below, 3)}.txt`, note(at, 200))
  }
  for (let at = 0; at < shape.flat; at++) {
    await put(project, `flat/document-${digits(at, 5)}.txt`, note(at, 200))
  }
  for (let at = 0; at < shape.scans; at++) {
    await put(project, `scans/scan-${digits(at, 3)}.pdf`, noise(`scan ${at}`, scanBytes))
  }
  for (let at = 0; at < shape.notes; at++) {
    await put(project, `notes/folder-${at % 10}/note-${digits(at, 4)}.txt`, note(at, noteBytes))
  }
  for (let at = 0; at < reports; at++) {
    await put(project, `reports/report-${at}.pdf`, noise(`report ${at}`, reportBytes))
  }
  for (let at = 0; at < shape.memos; at++) {
    await put(project, `memos/memo-${digits(at, 3)}.txt`, note(at, memoBytes))
  }
  for (let at = 0; at < shape.copies; at++) {
    await put(source, `letters/letter-${digits(at, 3)}.txt`, note(at, noteBytes))
  }
  for (const [root, path] of [
    [project, 'large/film.mp4'],
    [source, 'film.mp4'],
  ]) {
    await putLarge(join(root, path), path, shape.largeBytes)
    if (root === project) paths.push(`/${path}`)
  }
  await put(project, 'large/scanned.pdf', noise('scanned', scannedBytes))
  return { project, source, paths }
}

/** Writes new contents for the reports. Their size is new, too, so that the server's sizes show when they have arrived. */
export async function makeReports(folder, sizeBytes) {
  await mkdir(folder, { recursive: true })
  for (let at = 0; at < reports; at++) {
    await writeFile(join(folder, `report-${at}.pdf`), noise(`report ${at} of ${sizeBytes}`, sizeBytes))
  }
}

export function reportBytesOf(edition) {
  return reportBytes + 16 * (edition + 1)
}

async function putLarge(file, seed, sizeBytes) {
  await mkdir(dirname(file), { recursive: true })
  const handle = await open(file, 'w')
  for (let at = 0; at < sizeBytes; at += 8 * mebibyte) {
    await handle.write(noise(`${seed} ${at}`, Math.min(8 * mebibyte, sizeBytes - at)))
  }
  await handle.close()
}

/** Returns incompressible bytes. */
function noise(seed, sizeBytes) {
  const key = Buffer.alloc(16)
  key.write(seed.slice(-16))
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16, seed.length)).update(Buffer.alloc(sizeBytes))
}

/** Returns a text; one of fifty contains "needle". */
function note(at, sizeBytes) {
  const line = `Note ${at}: ${at % 50 === 7 ? 'a needle in the hay' : 'nothing but hay'}, all the way down.\n`
  return line.repeat(Math.ceil(sizeBytes / line.length)).slice(0, sizeBytes)
}

function digits(number, count) {
  return String(number).padStart(count, '0')
}
