// Content kept on this machine: the cache, temporary files, and pinned paths.

import { formatBytes } from '../amounts.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import type { PinStatus } from '../fs/pins/pin-status.ts'
import { firstFew } from './first-few.ts'
import { html, type Html } from './html.ts'
import type { DriveData } from './page-data.ts'

export function keptView({ id, cache }: DriveData, { pins, scratchFiles }: MountStatus): Html {
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
        </p>`
  const temporary =
    scratchFiles === 0
      ? undefined
      : html`<p>
          ${scratchFiles === 1 ? '1 temporary file' : `${scratchFiles} temporary files`} of programs, on this
          machine only.
        </p>`
  const pinned =
    pins.length === 0
      ? html`<p>Nothing is pinned. <code>docmount pin PATH</code> keeps a folder on this machine.</p>`
      : html`<ul class="rows">
          ${firstFew(pins.map(pinView))}
        </ul>`
  return html`<section id="kept-${id}">
    <h3>On this machine</h3>
    ${cached}${temporary}${pinned}
  </section>`
}

function pinView(pin: PinStatus): Html {
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
      >${words}${problem === undefined ? '' : `: ${problem}`}</span
    >
  </li>`
}

function countOf(documents: number): string {
  return documents === 1 ? '1 document' : `${documents} documents`
}
