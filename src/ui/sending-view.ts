// The section of a drive for changes that are being sent: bytes, rate, and time left.

import { formatBytes, secondsText } from '../amounts.ts'
import { leftBytesOf } from '../daemon/left-bytes.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import type { Unsent, UnsentState } from '../fs/status.ts'
import { firstFew } from './first-few.ts'
import { formView } from './form-view.ts'
import { html, type Html } from './html.ts'
import { changeWords, plainReason } from './plain-words.ts'
import type { DriveData } from './page-data.ts'

/** States in this section, in the order of its rows. */
const shownStates: readonly UnsentState[] = ['sending', 'retrying', 'pending']

/** Returns the section, without changes that the service or the local disk refused: concerns-view.ts shows those. */
export function sendingView({ id, rates }: DriveData, status: MountStatus, formToken: string): Html {
  const { unsent, away, isPaused, keyRefusal } = status
  const isWaiting = away !== undefined || isPaused || keyRefusal !== undefined
  const title = isWaiting && unsent.length > 0 ? 'Waiting to be sent' : 'Being sent'
  const moving = unsent.filter(({ state }) => shownStates.includes(state))
  if (moving.length === 0) {
    const sentence = unsent.length === 0 ? 'Everything is sent.' : 'Everything else is sent.'
    return html`<section id="sending-${id}" tabindex="-1">
      <h3>${title}</h3>
      <p>${sentence}</p>
    </section>`
  }
  const left = leftBytesOf(moving)
  const count = moving.length === 1 ? '1 change' : `${moving.length} changes`
  const sum = [
    count,
    `${formatBytes(left)} left`,
    ...(isWaiting ? [] : rateAndTime(rates.totalRate, left)),
  ].join(' · ')
  const hasSetbacks = moving.some(({ state }) => state === 'retrying')
  const retryButton = hasSetbacks
    ? formView(
        {
          action: '/retry',
          fields: { drive: id, path: '/' },
          label: 'Try again now',
          about: 'all that waits',
        },
        formToken,
      )
    : undefined
  const rows = moving
    .toSorted((a, b) => shownStates.indexOf(a.state) - shownStates.indexOf(b.state))
    .map((change) => changeView(change, rates.rateOf(change)))
  return html`<section id="sending-${id}" tabindex="-1">
    <h3>${title}</h3>
    <p class="sum">${sum}</p>
    ${retryButton}
    <ul class="rows">
      ${firstFew(rows)}
    </ul>
  </section>`
}

function changeView(change: Unsent, rate: number | undefined): Html {
  const { path, bytes, sentBytes, state } = change
  const sent = Math.min(sentBytes, bytes)
  const bar =
    state === 'sending' && bytes > 0
      ? html`<progress max="${bytes}" value="${sent}" aria-label="${path}"></progress>`
      : undefined
  return html`<li>
    <span class="name">${path}</span>${bar}<span class="facts">${factsOf(change, rate)}</span>
  </li>`
}

function factsOf(change: Unsent, rate: number | undefined): string {
  const { action, state, bytes, sentBytes, lastError, nextAttemptAt } = change
  if (state === 'sending' && bytes > 0) {
    const sent = Math.min(sentBytes, bytes)
    const percent = Math.floor((100 * sent) / bytes)
    const amount = `${formatBytes(sent)} of ${formatBytes(bytes)} (${percent} %)`
    return [amount, ...rateAndTime(rate, bytes - sent)].join(' · ')
  }
  const size = bytes === 0 ? [] : [formatBytes(bytes)]
  const next =
    nextAttemptAt === undefined ? '' : `, next try ${new Date(nextAttemptAt).toTimeString().slice(0, 8)}`
  const why = lastError === undefined ? [] : [plainReason(lastError)]
  return [changeWords[action], `${stateTexts[state]}${next}`, ...size, ...why].join(' · ')
}

const stateTexts: Readonly<Record<UnsentState, string>> = {
  pending: 'waits',
  sending: 'under way',
  retrying: 'failed for now',
  refused: 'refused',
  unkept: 'not safe',
}

function rateAndTime(rate: number | undefined, left: number): string[] {
  if (rate === undefined || rate < 1) return []
  const time = left === 0 ? [] : [`${secondsText(left / rate)} left`]
  return [`${formatBytes(Math.round(rate))}/s`, ...time]
}
