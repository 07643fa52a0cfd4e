// Matching by the service's own engine, as in a reconcile request: without tuning and without information about the fields.

import { indexAssets } from '../../../src/service/reconcile/asset-index.ts'
import { reconcile } from '../../../src/service/reconcile/reconcile.ts'
import type { Matches } from './judge.ts'
import type { Statement } from './statement.ts'

export function matchByEngine({ invoices, payments }: Statement, withReferences: boolean): Matches {
  const index = indexAssets(
    invoices.map((invoice, at) => ({ id: String(at), name: `Invoice ${at}`, rowData: { ...invoice } })),
  )
  const columns = withReferences
    ? (['invoice_number', 'customer', 'amount', 'date'] as const)
    : (['customer', 'amount', 'date'] as const)
  const data = Object.fromEntries(columns.map((name) => [name, payments.map((payment) => payment[name])]))
  const { matches } = reconcile({ data, files: [] }, index)
  return matches.map((id) => (id === undefined ? undefined : Number(id)))
}
