// The section of a drive for what programs deleted and replaced: listed when it is asked for, with buttons that bring it back.

import { formatBytes } from '../amounts.ts'
import type { MountStatus } from '../daemon/control-protocol.ts'
import type { Former } from '../fs/former.ts'
import { localTime } from '../local-time.ts'
import { firstFew } from './first-few.ts'
import { type FormParts, formView } from './form-view.ts'
import { html, type Html } from './html.ts'
import type { DriveData } from './page-data.ts'

export function undoView(drive: DriveData, { readOnly }: MountStatus, formToken: string): Html {
  const { id, mountpoint, shown } = drive
  const form = (
    parts: Omit<FormParts, 'fields'> & { readonly fields?: Readonly<Record<string, string>> },
  ): Html => formView({ ...parts, fields: { drive: id, ...parts.fields } }, formToken)
  const asking = html`${form({
    action: '/show-former',
    fields: { path: '/' },
    label: 'What was deleted',
    about: mountpoint,
  })}${form({
    action: '/show-former',
    label: 'Show versions',
    about: mountpoint,
    input: { name: 'path', type: 'text', label: 'Document or folder' },
  })}`
  return html`<section id="undo-${id}" tabindex="-1">
    <h3>Deleted and replaced</h3>
    ${asking}${shown === undefined ? undefined : listView(shown, readOnly, form)}
  </section>`
}

function listView(
  { path, former, isOn, problem }: NonNullable<DriveData['shown']>,
  readOnly: boolean,
  form: (parts: Omit<FormParts, 'fields'> & { readonly fields: Readonly<Record<string, string>> }) => Html,
): Html {
  const close = form({ action: '/hide-former', fields: {}, label: 'Close', about: path })
  // Versions of a document, or what was deleted in a folder.
  const rows = former.filter(
    (version) => version.path === path || (version.how === 'deleted' && !version.isRestored),
  )
  const isRestorable = ({ missing }: Former): boolean => missing === undefined && !readOnly
  const restore = (version: Former): Html =>
    form({
      action: '/restore',
      fields: { path: version.path, at: version.at },
      label: 'Restore',
      about: `${version.path}, ${version.how} ${localTime(version.at)}`,
      key: `Restore: ${version.path} ${version.at}`,
    })
  const all = rows.filter((row) => row.path !== path && isRestorable(row)).length
  const restoreAll =
    all < 2
      ? undefined
      : form({
          action: '/restore',
          fields: { path },
          label: 'Restore all',
          about: `${path}, ${all} documents`,
        })
  const off = isOn
    ? undefined
    : html`<p class="advice">
        Nothing more is kept: this drive was mounted without <code>--undo 30d</code>.
      </p>`
  const none =
    problem ?? (rows.length === 0 ? 'Nothing of it was deleted or replaced here lately.' : undefined)
  return html`<h4>
      ${path === '/' ? 'All that was deleted' : path} <span class="count">${rows.length}</span>
    </h4>
    ${off}${none === undefined ? undefined : html`<p>${none}</p>`}
    <ul class="rows">
      ${firstFew(
        rows.map(
          (row) =>
            html`<li>
              <span class="name">${row.path === path ? localTime(row.at) : row.path}</span
              ><span class="facts">${factsOf(row, path)}</span
              ><span class="buttons">${isRestorable(row) ? restore(row) : undefined}</span>
            </li>`,
        ),
        path === '/' ? 'docmount trash' : 'docmount versions',
      )}
    </ul>
    <div class="buttons">${restoreAll}${close}</div>`
}

function factsOf({ path, how, at, storedAt, bytes, missing, isRestored }: Former, shownPath: string): string {
  return [
    path === shownPath ? how : `${how} ${localTime(at)}`,
    ...(storedAt === undefined ? [] : [`stored ${localTime(storedAt)}`]),
    ...(bytes === undefined ? [] : [formatBytes(bytes)]),
    ...(missing === undefined ? [] : [`not kept: ${missing}`]),
    ...(isRestored ? ['restored since'] : []),
  ].join(' · ')
}
