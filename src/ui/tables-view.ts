// The project's tables, and the reconciliations through the drive. Read-only.

import type { ReconcileRun } from '../tables-drive/reconcile-run.ts'
import type { Table } from '../api/table-types.ts'
import { html, type Html } from './html.ts'
import type { DriveData } from './page-data.ts'

export function tablesView({ id, tables, tablesProblem }: DriveData): Html {
  if (tables === undefined)
    return html`<details id="tables-${id}">
      <summary>Tables</summary>
      <p>docmount cannot show them: ${tablesProblem}</p>
    </details>`
  const { tables: all, runs } = tables
  return html`<details id="tables-${id}">
    <summary>Tables <span class="count">${all.length}</span></summary>
    ${listView(all)}
    <h4>Reconciliations through this drive <span class="count">${runs.length}</span></h4>
    ${runsView(runs)}
  </details>`
}

function listView(tables: readonly Table[]): Html {
  if (tables.length === 0)
    return html`<p>The project has no tables. <code>docmount tables create</code> makes one.</p>`
  const rows = tables.map(
    ({ name, type, createdAt, id }) =>
      html`<tr>
        <th scope="row">${name ?? '?'}</th>
        <td>${type ?? '?'}</td>
        <td>${localTime(createdAt)}</td>
        <td><code>${id ?? ''}</code></td>
      </tr>`,
  )
  return html`<div class="wide" tabindex="0" role="region" aria-label="Tables">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Kind</th>
          <th scope="col">Made</th>
          <th scope="col">Id</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}

/** Runs through this drive: the service has no list of all. */
function runsView(runs: readonly ReconcileRun[]): Html {
  if (runs.length === 0)
    return html`<p>
      None since it was mounted. With <code>mount --tables</code>, a .json file dropped into
      <code>.tables/NAME/reconcile</code> is one.
    </p>`
  const rows = runs.toReversed().map(
    ({ at, table, file, status, reasoning }) =>
      html`<li>
        <span class="name">${table}: ${file}</span
        ><span class="facts"><strong>${status}</strong> · ${localTime(at)}</span
        ><span class="reasoning">${reasoning}</span>
      </li>`,
  )
  return html`<ul class="rows">
    ${rows}
  </ul>`
}

function localTime(iso: string | undefined): string {
  const time = new Date(iso ?? '')
  return Number.isNaN(time.getTime()) ? '' : time.toLocaleString('sv-SE')
}
