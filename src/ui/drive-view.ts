// The card of one drive on the page.

import { homeOf } from '../daemon/xdg.ts'
import { activityText } from '../daemon/activity-text.ts'
import { isAtOrUnder } from '../daemon/path-inside.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import { concernsView } from './concerns-view.ts'
import { formView } from './form-view.ts'
import { html, type Html } from './html.ts'
import { keptView } from './kept-view.ts'
import type { DriveData } from './page-data.ts'
import { sendingView } from './sending-view.ts'
import { tablesView } from './tables-view.ts'

export function driveView(drive: DriveData, formToken: string): Html {
  const { id, mountpoint, status, problem, log } = drive
  const name = status?.project ?? mountpoint
  const content =
    status === undefined
      ? html`<p class="reach away" id="reach-${id}">${problem}</p>`
      : html`${reachView(id, status, formToken)}${sendingView(drive, status, formToken)}${concernsView(
          drive,
          status,
          formToken,
        )}${keptView(drive, status)}${tablesView(drive)}${activityView(drive)}`
  return html`<article class="card" id="drive-${id}" aria-labelledby="title-${id}">
    <h2 id="title-${id}">${name}</h2>
    <p class="place">
      <code>${withTilde(mountpoint)}</code
      >${status === undefined ? undefined : html` <span>at ${status.baseUrl}</span>`}
    </p>
    ${content}
    <details id="log-${id}">
      <summary>Log</summary>
      <pre class="log" tabindex="0" aria-label="Log of ${name}">${log.join('\n')}</pre>
    </details>
  </article>`
}

/** The latest first. */
function activityView({ id, activity }: DriveData): Html | undefined {
  if (activity.length === 0) return undefined
  const rows = activity
    .toReversed()
    .map((each) => html`<li>${new Date(each.at).toLocaleString('sv-SE')} ${activityText(each)}</li>`)
  return html`<details id="activity-${id}">
    <summary>Activity</summary>
    <ul class="rows">
      ${rows}
    </ul>
  </details>`
}

function reachView(id: string, status: MountStatus, formToken: string): Html {
  const { away, service, keyRefusal, state, readOnly } = status
  const notes = [
    ...(readOnly ? ['read-only'] : []),
    ...(state === 'live' ? [] : [`being unmounted (${state})`]),
  ]
  const note = notes.length === 0 ? undefined : html` <span class="note">${notes.join(', ')}</span>`
  if (away === undefined && keyRefusal !== undefined) {
    return html`<p class="reach away" id="reach-${id}">
      The service no longer accepts the key (${keyRefusal}). What you save stays on this machine. To give a
      new key, run <code>docmount login</code>.${note}
    </p>`
  }
  if (away === undefined) {
    const sentence =
      service === 'reachable'
        ? 'The service answers.'
        : 'The service is slow to answer; docmount is checking.'
    return html`<p class="reach ${service}" id="reach-${id}">${sentence}${note}</p>`
  }
  const since = new Date(away.since).toLocaleString('sv-SE')
  return html`<div class="reach away" id="reach-${id}">
    <p>
      The service has been away since ${since}: ${away.reason}. What you see may be old. What you save stays
      on this machine, and is sent when the service is back.${note}
    </p>
    ${formView(
      { action: '/retry', drive: id, path: '/', label: 'Ask it now', about: 'the service' },
      formToken,
    )}
  </div>`
}

/** Shortens the home folder: `~/acme`. */
function withTilde(path: string): string {
  const home = homeOf()
  return home !== '/' && isAtOrUnder(path, home) ? `~${path.slice(home.length)}` : path
}
