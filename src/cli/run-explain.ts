// Implements `docmount explain`.

import type { ExplainedChange, Explanation } from '../fs/status.ts'
import { localTime } from '../local-time.ts'
import { printable } from '../printable.ts'
import { askDrive, findDrive } from './find-drive.ts'
import type { JsonOption } from './output.ts'

export async function runExplain(path: string, { json }: JsonOption): Promise<Explanation> {
  const { found, path: inside } = await findDrive(path)
  const explanation = await askDrive(found, 'explain', { path: inside })
  if (json !== true) for (const line of explanationLines(explanation)) console.log(printable(line))
  return explanation
}

/** Returns a line of what shows, one of the listing, and one of each change. */
export function explanationLines(explanation: Explanation): readonly string[] {
  const { path, shows, listing, changes } = explanation
  const what = shows === 'nothing' ? 'nothing' : `a ${shows}`
  const lines = [`${path} shows ${what}: ${reason(explanation)}`]
  if (listing !== undefined) {
    const { askedAt, has, modifiedAt } = listing
    const version = modifiedAt === undefined ? '' : ` of ${localTime(modifiedAt)}`
    lines.push(
      `  listing asked for at ${localTime(askedAt)}: ${has === 'nothing' ? has : `a ${has}`}${version}`,
    )
  }
  return [...lines, ...changes.map((change) => `  ${changeText(path, change)}`)]
}

function reason({ rule, path, agreed }: Explanation): string {
  switch (rule) {
    case 'here':
      return path === '/' ? 'it is the drive' : 'the service does not have it as it is here'
    case 'unlisted':
      return 'no listing of its folder is known now'
    case 'open':
      return 'it changed here, and the service has not agreed yet'
    case 'lagging':
      return agreed === undefined
        ? 'the service agreed to its last change, and its listings may lag behind that'
        : `the service agreed to its last change at ${localTime(agreed.at)}; listings asked for before ${localTime(agreed.until)} may lag behind that`
    case 'listed':
      return 'the listing of its folder says so'
    case 'gone':
      return 'its folder does not show'
  }
}

function changeText(path: string, change: ExplainedChange): string {
  const { kind, source, since, attempts, lastError } = change
  const tried = attempts === 0 ? '' : `, tried ${attempts === 1 ? 'once' : `${attempts} times`}`
  const error = lastError === undefined ? '' : ` (${lastError})`
  const where =
    source === undefined || source === change.path
      ? ''
      : source === path
        ? ` to ${change.path}`
        : ` from ${source}`
  const names = { put: where === '' ? 'upload' : 'move', delete: 'delete', prune: 'removal of the folder' }
  return `${names[kind]}${where} since ${localTime(since)}${tried}${error}: ${waitText(change)}`
}

function waitText({ waits }: ExplainedChange): string {
  switch (waits.for) {
    case 'nothing':
      return 'under way'
    case 'pause':
      return 'waits while the drive is paused, or the service is away'
    case 'writing':
      return 'waits until the program that writes it closes it'
    case 'refused':
      return 'the service refused it; docmount retry sends it again'
    case 'older':
      return waits.older === undefined
        ? 'waits for the removal of a folder above it'
        : `waits for an older change of ${waits.older}`
    case 'time':
      return `waits until ${waits.at === undefined ? 'its time' : localTime(waits.at)}`
    case 'slot':
      return 'waits for its turn'
  }
}
