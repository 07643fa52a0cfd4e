// The card of one drive on the page.

import { localTime } from '../local-time.ts'
import { homeOf } from '../daemon/xdg.ts'
import type { Activity } from '../daemon/activity-bursts.ts'
import { activityText } from '../daemon/activity-text.ts'
import { isAtOrUnder } from '../daemon/path-inside.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import { isUrl } from '../daemon/find-mount.ts'
import { concernsView } from './concerns-view.ts'
import { type FormParts, formView } from './form-view.ts'
import { html, type Html } from './html.ts'
import { keptView } from './kept-view.ts'
import type { DriveData } from './page-data.ts'
import { plainReason } from './plain-words.ts'
import { sendingView } from './sending-view.ts'
import { tablesView } from './tables-view.ts'
import { undoView } from './undo-view.ts'

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
        )}${keptView(drive, status, formToken)}${undoView(drive, status, formToken)}${tablesView(drive)}${activityView(drive)}`
  return html`<article class="card" id="drive-${id}" aria-labelledby="title-${id}" tabindex="-1">
    <h2 id="title-${id}">${name}</h2>
    <p class="place">
      <code>${withTilde(mountpoint)}</code
      >${status === undefined ? undefined : html` <span>at ${status.baseUrl}</span>`}
    </p>
    <div class="buttons">${driveButtons(drive, formToken)}</div>
    ${content}${status === undefined ? undefined : keyView(id, status, formToken)}
    <details id="log-${id}">
      <summary>Log</summary>
      <pre class="log" tabindex="0" aria-label="Log of ${name}">${log.join('\n')}</pre>
    </details>
  </article>`
}

function driveButtons({ id, mountpoint, status, canMount }: DriveData, formToken: string): Html[] {
  const button = (action: FormParts['action'], label: string, key: string = label): Html =>
    formView({ action, fields: { drive: id, path: '/' }, label, about: mountpoint, key }, formToken)
  if (status === undefined) return canMount ? [button('/mount', 'Mount')] : []
  return [
    ...(isUrl(mountpoint) ? [] : [button('/open-folder', 'Open folder')]),
    status.isPaused ? button('/resume', 'Go on', 'pause') : button('/pause', 'Pause', 'pause'),
    button('/unmount', 'Unmount'),
  ]
}

/** Returns the form for a new key, folded away unless the service refuses the present one. */
function keyView(id: string, { keyRefusal, baseUrl }: MountStatus, formToken: string): Html {
  const form = formView(
    {
      action: '/new-key',
      fields: { drive: id, path: '/' },
      label: 'Use this key',
      about: baseUrl,
      input: { name: 'key', type: 'password', label: 'API key' },
    },
    formToken,
  )
  if (keyRefusal !== undefined) return html`<section id="key-${id}">${form}</section>`
  return html`<details id="key-${id}">
    <summary>New key</summary>
    ${form}
  </details>`
}

/** Returns the list of changes, the latest first. */
function activityView({ id, activity }: DriveData): Html | undefined {
  if (activity.length === 0) return undefined
  const rows = activity
    .toReversed()
    .map((line) => html`<li>${localTime(line.at)} ${activityText(plainly(line))}</li>`)
  return html`<details id="activity-${id}">
    <summary>Activity</summary>
    <ul class="rows">
      ${rows}
    </ul>
  </details>`
}

/** Returns the activity with its reason in plain words. */
function plainly({ reason, ...rest }: Activity): Activity {
  return reason === undefined ? rest : { ...rest, reason: plainReason(reason) }
}

function reachView(id: string, status: MountStatus, formToken: string): Html {
  const { away, service, keyRefusal, state, readOnly, isPaused } = status
  const notes = [
    ...(readOnly ? ['read-only'] : []),
    ...(isPaused ? ['paused: what you save stays on this machine until you go on'] : []),
    ...(state === 'live' ? [] : ['being unmounted']),
  ]
  const note = notes.length === 0 ? undefined : html` <span class="note">${notes.join(', ')}</span>`
  if (away === undefined && keyRefusal !== undefined) {
    return html`<p class="reach away" id="reach-${id}">
      The service no longer accepts the key (${plainReason(keyRefusal)}). What you save stays on this machine
      until it has a new key: see below.${note}
    </p>`
  }
  if (away === undefined) {
    const sentence =
      service === 'reachable'
        ? 'The service answers.'
        : 'The service is slow to answer; docmount is checking.'
    return html`<p class="reach ${service}" id="reach-${id}">${sentence}${note}</p>`
  }
  const since = localTime(away.since)
  return html`<div class="reach away" id="reach-${id}">
    <p>
      The service has been away since ${since}: ${plainReason(away.reason)}. What you see may be old. What you
      save stays on this machine, and is sent when the service is back.${note}
    </p>
    ${formView(
      { action: '/retry', fields: { drive: id, path: '/' }, label: 'Ask it now', about: 'the service' },
      formToken,
    )}
  </div>`
}

/** Shortens the home folder: `~/acme`. */
function withTilde(path: string): string {
  const home = homeOf()
  return home !== '/' && isAtOrUnder(path, home) ? `~${path.slice(home.length)}` : path
}
