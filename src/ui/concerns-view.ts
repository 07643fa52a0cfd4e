// Problems that need the user: refused changes, conflicts, lost content, files that are on this machine only.

import { localTime } from '../local-time.ts'
import { formatBytes } from '../amounts.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import type { Keep } from '../daemon/resolve-conflict.ts'
import { isUrl } from '../daemon/find-mount.ts'
import { firstFew } from './first-few.ts'
import { type FormParts, formView } from './form-view.ts'
import { html, type Html } from './html.ts'
import { plainReason, refusedWords } from './plain-words.ts'
import type { DriveData } from './page-data.ts'

/** Returns undefined if there are no problems. */
export function concernsView(drive: DriveData, status: MountStatus, formToken: string): Html | undefined {
  const { id, mountpoint } = drive
  const button = {
    retry: (path: string) =>
      formView({ action: '/retry', fields: { drive: id, path }, label: 'Retry', about: path }, formToken),
    keep: (copy: string, keep: Keep) =>
      formView(
        {
          action: '/resolve',
          fields: { drive: id, path: copy, keep },
          label: `Keep ${keep}`,
          about: copy,
        },
        formToken,
      ),
    copy: (path: string) =>
      formView(
        { action: '/copy-out', fields: { drive: id, path }, label: 'Copy out', about: path },
        formToken,
      ),
    folder: (path: string) =>
      isUrl(mountpoint)
        ? undefined
        : formView(
            { action: '/open-folder', fields: { drive: id, path }, label: 'Open folder', about: path },
            formToken,
          ),
  }
  /** `all`: an action on all of them. */
  const part = (title: string, advice: string, rows: readonly Html[], all?: FormParts): Html | undefined =>
    rows.length === 0
      ? undefined
      : html`<h4>${title} <span class="count">${rows.length}</span></h4>
          <p class="advice">${advice}</p>
          ${all === undefined ? undefined : formView(all, formToken)}
          <ul class="rows">
            ${firstFew(rows)}
          </ul>`
  const parts = [
    part(
      'Not safe',
      'The disk of this machine refuses to keep these, so they are lost when the drive ends. Make room; docmount tries again automatically.',
      status.unsent
        .filter(({ state }) => state === 'unkept')
        .map(({ path, lastError }) =>
          row(
            path,
            plainReason(lastError ?? 'no reason given'),
            html`${button.retry(path)}${button.copy(path)}`,
          ),
        ),
    ),
    part(
      'Refused by the service',
      'What you saved is kept on this machine. A refused delete or rename has no content to keep.',
      status.unsent
        .filter(({ state }) => state === 'refused')
        .map(({ path, action, lastError, spoolFile, bytes }) =>
          row(
            path,
            `${refusedWords[action]}: ${plainReason(lastError ?? 'no reason given')}`,
            html`${button.retry(path)}${spoolFile === undefined && bytes === 0 ? undefined : button.copy(path)}`,
          ),
        ),
    ),
    part(
      'Someone else changed these too',
      'Their version is kept beside yours. Keep mine deletes it; keep theirs puts it in the place of yours; keep both leaves the two.',
      status.conflictCopies.map(({ path, copy, at }) =>
        row(
          path,
          `theirs is ${copy} (${localTime(at)})`,
          html`${button.keep(copy, 'mine')}${button.keep(copy, 'theirs')}${button.keep(copy, 'both')}${button.folder(copy)}${button.copy(copy)}`,
        ),
      ),
    ),
    part(
      'Refused types',
      'The service has no type for these files, so they are not on the drive. Save them in another format, such as PDF, or mount with --unsupported-as MIMETYPE.',
      status.refusedNames
        .toReversed()
        .map(({ path, what, count }) =>
          row(
            path,
            `the service takes no ${what}${count > 1 ? ` (tried ${count} times)` : ''}`,
            formView(
              { action: '/dismiss-name', fields: { drive: id, path }, label: 'Dismiss', about: path },
              formToken,
            ),
          ),
        ),
    ),
    part(
      'On this machine only',
      'These files are not sent.',
      status.localOnly.map(({ path, bytes, why }) =>
        row(path, `${formatBytes(bytes)}: ${why}`, html`${button.folder(path)}${button.copy(path)}`),
      ),
    ),
    part(
      'In lost+found',
      'Content that belongs to no document.',
      status.lost.map(({ file, path, name, bytes }) =>
        row(path ?? `${name} (never closed)`, `${formatBytes(bytes)} in ${file}`, undefined),
      ),
      {
        action: '/take-out',
        fields: { drive: id, path: '/' },
        label: 'Take out',
        about: 'all of lost+found',
      },
    ),
    part(
      'Damaged or missing on this machine',
      'What docmount found, and did about it. Damaged files are set aside, and stay in the state folder also when you dismiss this.',
      [...status.trouble, ...status.damaged].map((sentence) => row(sentence, '', undefined)),
      { action: '/dismiss-damage', fields: { drive: id, path: '/' }, label: 'Dismiss', about: 'damage' },
    ),
  ].filter((shown) => shown !== undefined)
  if (parts.length === 0) return undefined
  return html`<section id="concerns-${id}" class="concerns" tabindex="-1">
    <h3>Needs your attention</h3>
    ${parts}
  </section>`
}

function row(name: string, facts: string, buttons: Html | undefined): Html {
  return html`<li>
    <span class="name">${name}</span><span class="facts">${facts}</span>${
      buttons === undefined ? undefined : html`<span class="buttons">${buttons}</span>`
    }
  </li>`
}
