// Actions of the page's forms: here those on documents. Those on a whole drive: drive-actions.ts.

import { stat } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { ask } from '../daemon/control-client.ts'
import { damageDismissed, namesDismissed } from '../daemon/dismissed-text.ts'
import { isUrl } from '../daemon/find-mount.ts'
import { resolvedText } from '../daemon/resolved-text.ts'
import { homeOf } from '../daemon/xdg.ts'
import { runTool } from '../run-tool.ts'
import type { Action, ActionOptions } from './action.ts'
import { driveActions } from './drive-actions.ts'
import { targetOf } from './form-target.ts'
import { openOnDesktop } from './open-on-desktop.ts'
import { Refused } from './refused.ts'
import { undoActions } from './undo-actions.ts'

const mostNames = 1000
const toolMs = 2_000

export const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['/retry', retry],
  ['/copy-out', copyOut],
  ['/open-folder', openFolder],
  ['/resolve', resolve],
  ['/dismiss-name', dismissName],
  ['/dismiss-damage', dismissDamage],
  ['/take-out', takeOut],
  ...driveActions,
  ...undoActions,
])

async function retry(form: URLSearchParams): Promise<string> {
  const { socketPath, path } = await targetOf(form)
  const { retried } = await ask(socketPath, 'retry', { path })
  return retried === 0
    ? 'Asking the service again.'
    : `Trying ${retried === 1 ? '1 change' : `${retried} changes`} again.`
}

async function resolve(form: URLSearchParams): Promise<string> {
  const { socketPath, path } = await targetOf(form)
  const keep = (['mine', 'theirs', 'both'] as const).find((each) => each === form.get('keep'))
  if (keep === undefined) throw new Refused(400, 'the form does not say which version to keep')
  return resolvedText(await ask(socketPath, 'resolve', { path, keep }), keep)
}

async function dismissName(form: URLSearchParams): Promise<string> {
  const { socketPath, path } = await targetOf(form)
  const { names } = await ask(socketPath, 'dismissNames', { path })
  return namesDismissed(names)
}

async function dismissDamage(form: URLSearchParams): Promise<string> {
  const { socketPath } = await targetOf(form)
  const { files } = await ask(socketPath, 'dismissDamage', {})
  return damageDismissed(files)
}

/** Takes everything out of lost+found. */
async function takeOut(form: URLSearchParams, { copyTo }: ActionOptions): Promise<string> {
  const { socketPath } = await targetOf(form)
  const destination = join(copyTo ?? (await downloadFolder()), 'lost+found')
  const { files } = await ask(socketPath, 'recoverLost', { destination })
  return `Taken out: ${files.join(', ')}`
}

/** Adds a number to a name that exists, so that no file is overwritten. */
async function copyOut(form: URLSearchParams, { copyTo }: ActionOptions): Promise<string> {
  const { socketPath, path } = await targetOf(form)
  const folder = copyTo ?? (await downloadFolder())
  const { name, ext } = parse(path)
  for (let number = 1; number <= mostNames; number++) {
    const destination = join(folder, number === 1 ? `${name}${ext}` : `${name} (${number})${ext}`)
    try {
      await ask(socketPath, 'recover', { path, destination })
      return `Copied to ${destination}`
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  throw new Refused(409, `${folder} is full of copies of ${name}${ext}`)
}

async function openFolder(form: URLSearchParams): Promise<string> {
  const { found, path } = await targetOf(form)
  if (isUrl(found.mountpoint)) throw new Refused(409, 'this drive is no folder here')
  const folder = join(found.mountpoint, parse(path).dir)
  await openOnDesktop(folder).catch((error: unknown) => {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const why = isMissing ? 'xdg-open is not installed' : 'the desktop refused'
    throw new Refused(409, `No file manager could be opened (${why}). The folder is ${folder}`)
  })
  return `Opened ${folder}`
}

async function downloadFolder(): Promise<string> {
  const home = homeOf()
  const named = await runTool('xdg-user-dir', ['DOWNLOAD'], { limitMs: toolMs }).then(
    ({ code, stdout }) => (code === 0 ? stdout.trim() : ''),
    () => '',
  )
  for (const folder of [named, join(home, 'Downloads')]) {
    const found = folder === '' ? undefined : await stat(folder).catch(() => undefined)
    if (found?.isDirectory() === true) return folder
  }
  return home
}
