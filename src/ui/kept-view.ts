// Content kept on this machine: the cache, temporary files, and pinned paths.

import { formatBytes } from '../amounts.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import type { PinStatus } from '../fs/pins/pin-status.ts'
import { firstFew } from './first-few.ts'
import { formView } from './form-view.ts'
import { html, type Html } from './html.ts'
import { plainReason } from './plain-words.ts'
import type { DriveData } from './page-data.ts'

export function keptView(
  { id, mountpoint, cache }: DriveData,
  { pins, scratchFiles }: MountStatus,
  formToken: string,
): Html {
  const freeSpace = formView(
    { action: '/free-space', fields: { drive: id, path: '/' }, label: 'Free space', about: 'the cache' },
    formToken,
  )
  const pinForm = formView(
    {
      action: '/pin',
      fields: { drive: id },
      label: 'Keep on this machine',
      about: mountpoint,
      input: { name: 'path', type: 'text', label: 'Folder or document' },
    },
    formToken,
  )
  const unpin = (path: string): Html =>
    formView({ action: '/unpin', fields: { drive: id, path }, label: 'Unpin', about: path }, formToken)
  const cached =
    cache === undefined
      ? undefined
      : html`<p>
            Cache: ${countOf(cache.cachedDocuments)}, ${formatBytes(cache.cachedBytes)} of
            ${formatBytes(cache.cacheSizeBytes)}
            <progress
              max="${Math.max(1, cache.cacheSizeBytes)}"
              value="${cache.cachedBytes}"
              aria-label="Cache"
            ></progress>
          </p>
          ${cache.cachedBytes === 0 ? undefined : freeSpace}`
  const temporary =
    scratchFiles === 0
      ? undefined
      : html`<p>
          ${scratchFiles === 1 ? '1 temporary file' : `${scratchFiles} temporary files`} of programs, on this
          machine only.
        </p>`
  const pinned =
    pins.length === 0
      ? html`<p>Nothing is pinned.</p>`
      : html`<ul class="rows">
          ${firstFew(pins.map((pin) => pinView(pin, unpin(pin.path))))}
        </ul>`
  return html`<section id="kept-${id}" tabindex="-1">
    <h3>On this machine</h3>
    ${cached}${temporary}${pinned}${pinForm}
  </section>`
}

function pinView(pin: PinStatus, button: Html): Html {
  const { path, state, documents, documentsHere, bytes, bytesHere, problem } = pin
  const words =
    state === 'waiting'
      ? 'pinned, not looked at yet'
      : state === 'here'
        ? `pinned, all here: ${countOf(documents)}, ${formatBytes(bytes)}`
        : `pinned, ${documentsHere} of ${countOf(documents)} here, ${formatBytes(bytesHere)} of ${formatBytes(bytes)}`
  const bar =
    state === 'here' || bytes === 0
      ? undefined
      : html`<progress max="${bytes}" value="${bytesHere}" aria-label="${path}"></progress>`
  return html`<li>
    <span class="name">${path}</span>${bar}<span class="facts"
      >${words}${problem === undefined ? '' : `: ${plainReason(problem)}`}</span
    ><span class="buttons">${button}</span>
  </li>`
}

function countOf(documents: number): string {
  return documents === 1 ? '1 document' : `${documents} documents`
}
