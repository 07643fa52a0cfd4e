// Contents of the service and of a drive, in a form that makes failed comparisons readable.

import { createHash } from 'node:crypto'

import type { Calls } from './door.ts'
import type { OtherClient } from './other-client.ts'

/** Content by absolute path; undefined for a folder. */
export type Contents = ReadonlyMap<string, Uint8Array | undefined>

/** Returns everything that a drive shows below a folder. */
export async function driveTree(calls: Calls, folder: string): Promise<Map<string, Buffer | undefined>> {
  const tree = new Map<string, Buffer | undefined>()
  async function walk(path: string): Promise<void> {
    for (const name of await calls.readdir(path)) {
      const child = `${path}/${name}`
      const { kind } = await calls.stat(child)
      tree.set(child, kind === 'folder' ? undefined : await calls.readFile(child))
      if (kind === 'folder') await walk(child)
    }
  }
  await walk(folder)
  return tree
}

/** Returns every document and folder that the service has below a folder (`''`: the root). */
export async function serviceTree(
  other: OtherClient,
  folder: string,
): Promise<Map<string, Buffer | undefined>> {
  const tree = new Map<string, Buffer | undefined>()
  async function walk(path: string): Promise<void> {
    for (const entry of (await other.get(path === '' ? '/' : path))?.entries ?? []) {
      const child = `${path}/${entry.name}`
      tree.set(child, entry.ftype === 'folder' ? undefined : await other.bytes(child))
      if (entry.ftype === 'folder') await walk(child)
    }
  }
  await walk(folder)
  return tree
}

/** Returns all documents and folders of the service, with the contents as text. */
export async function serviceTexts(other: OtherClient): Promise<Record<string, string | undefined>> {
  const tree = await serviceTree(other, '')
  return Object.fromEntries([...tree].map(([path, content]) => [path, content?.toString()]))
}

/** Returns a short description of each content (size, first 40 bytes, digest), sorted by path. */
export function described(tree: Contents): Record<string, string> {
  const lines = [...tree].map(([path, content]): [string, string] => [
    path,
    content === undefined ? 'folder' : describedBytes(content),
  ])
  return Object.fromEntries(lines.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function describedBytes(content: Uint8Array): string {
  const text = Buffer.from(content)
    .subarray(0, 40)
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]/g, '.')
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 8)
  return `${content.length} bytes "${text}" #${digest}`
}

/** Returns only the documents. */
export function documentsOf(tree: Contents): Map<string, Uint8Array> {
  return new Map([...tree].filter((entry): entry is [string, Uint8Array] => entry[1] !== undefined))
}
