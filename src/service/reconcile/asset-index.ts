// The assets of one table, ready to be searched. Knows no store: made from plain rows, kept as long as the table stands still.

import { type AssetField, assetFieldOf } from './asset-field.ts'
import { fieldKeyOf } from './normalise.ts'

/** A row of a table. */
export interface Asset {
  readonly id: string
  readonly name: string
  readonly rowData: Readonly<Record<string, unknown>>
}

export interface AssetIndex {
  /** In the order they were forwarded: of equals the first one wins. */
  readonly assets: readonly Asset[]
  /** The field an input's key means, however it is spelled; undefined where no asset has it. */
  field(key: string): AssetField | undefined
  /** The assets' names, as a field. */
  readonly nameField: AssetField
  /** The asset's own value of a field; undefined where it has none. */
  valueOf(asset: number, key: string): unknown
}

/** Keys that mean the asset itself, where no field of that name exists. */
const ownKeys: ReadonlyMap<string, (asset: Asset) => string> = new Map([
  ['assetname', (asset: Asset) => asset.name],
  ['name', (asset: Asset) => asset.name],
  ['assetid', (asset: Asset) => asset.id],
])

export function indexAssets(assets: readonly Asset[]): AssetIndex {
  const spellings = spellingsOf(assets)
  const fields = new Map<string, AssetField>()

  const ownValue = (asset: Asset, key: string): unknown => {
    for (const spelling of spellings.get(key) ?? []) {
      const value = Object.hasOwn(asset.rowData, spelling) ? asset.rowData[spelling] : undefined
      if (value !== undefined && value !== null && value !== '') return value
    }
    return undefined
  }
  const valueOf = (asset: Asset, key: string): unknown =>
    spellings.has(key) ? ownValue(asset, key) : ownKeys.get(key)?.(asset)

  const field = (name: string): AssetField | undefined => {
    const key = fieldKeyOf(name)
    const own = ownKeys.get(key)
    const spelling = spellings.get(key)?.[0]
    if (spelling === undefined && own === undefined) return undefined
    let found = fields.get(key)
    if (found === undefined) {
      found = assetFieldOf(
        spelling ?? name,
        assets.map((asset) => valueOf(asset, key)),
        spelling === undefined,
      )
      fields.set(key, found)
    }
    return found
  }

  let nameField: AssetField | undefined
  return {
    assets,
    field,
    get nameField() {
      nameField ??= assetFieldOf(
        'asset_name',
        assets.map((asset) => asset.name),
        true,
      )
      return nameField
    },
    valueOf(number, key) {
      const asset = assets[number]
      return asset === undefined ? undefined : valueOf(asset, fieldKeyOf(key))
    },
  }
}

// Field key → the spellings met, in order.
function spellingsOf(assets: readonly Asset[]): ReadonlyMap<string, readonly string[]> {
  const spellings = new Map<string, string[]>()
  const seen = new Set<string>()
  for (const asset of assets) {
    for (const spelling of Object.keys(asset.rowData)) {
      if (seen.has(spelling)) continue
      seen.add(spelling)
      const key = fieldKeyOf(spelling)
      const known = spellings.get(key)
      if (known === undefined) spellings.set(key, [spelling])
      else known.push(spelling)
    }
  }
  return spellings
}
