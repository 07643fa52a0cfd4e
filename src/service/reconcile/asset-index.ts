// An in-memory index of the assets of one table. It is made from plain rows, without a database, and grows as rows are forwarded.

import { type AssetField, FieldValues, assetFieldOf } from './asset-field.ts'
import { fieldKeyOf } from './normalise.ts'

/** A row of a table. */
export interface Asset {
  readonly id: string
  readonly name: string
  readonly rowData: Readonly<Record<string, unknown>>
}

export interface AssetIndex {
  /** In the order in which they were forwarded: of assets that fit equally well, the first one is matched. */
  readonly assets: readonly Asset[]
  /** The field for a key of the input, in any spelling (`fieldKeyOf`); undefined where no asset has it. */
  field(key: string): AssetField | undefined
  /** All fields of the assets, in the order in which they first occurred. */
  fields(): Iterable<AssetField>
  /** The assets' names, as a field. */
  readonly nameField: AssetField
  /** The asset's value of a field, as it was forwarded; undefined where it has none. */
  valueOf(asset: number, key: string): unknown
}

/** Keys that mean the asset's name or id, where the table has no field of that name. */
const assetKeys: ReadonlyMap<string, (asset: Asset) => string> = new Map([
  ['assetname', (asset: Asset) => asset.name],
  ['name', (asset: Asset) => asset.name],
  ['assetid', (asset: Asset) => asset.id],
])

export function indexAssets(assets: readonly Asset[]): GrowingIndex {
  const index = new GrowingIndex()
  index.add(assets)
  return index
}

interface KnownField {
  readonly field: AssetField
  readonly values: FieldValues
  /** Number of assets whose values are in it. */
  readonly count: number
  /** True for a key of `assetKeys`. */
  readonly isAssetKey: boolean
}

export class GrowingIndex implements AssetIndex {
  readonly assets: Asset[] = []
  /** Field key → its spellings, in the order in which they first occurred. */
  readonly #spellings = new Map<string, string[]>()
  readonly #spellingsMet = new Set<string>()
  readonly #fields = new Map<string, KnownField>()

  /** Adds the next rows. Fields are made and updated later, when an input has a key for them. */
  add(assets: readonly Asset[]): void {
    for (const asset of assets) {
      this.assets.push(asset)
      for (const spelling of Object.keys(asset.rowData)) this.#addSpelling(spelling)
    }
  }

  field(name: string): AssetField | undefined {
    const key = fieldKeyOf(name)
    const spelling = this.#spellings.get(key)?.[0]
    if (spelling === undefined && !assetKeys.has(key)) return undefined
    return this.#updatedField(key, spelling ?? name, spelling === undefined, (asset) =>
      this.#valueOf(asset, key),
    )
  }

  *fields(): Generator<AssetField> {
    for (const [spelling = ''] of this.#spellings.values()) {
      const field = this.field(spelling)
      if (field !== undefined) yield field
    }
  }

  get nameField(): AssetField {
    // Keys of fields have no blanks, so this one is free.
    return this.#updatedField('asset name', 'asset_name', true, (asset) => asset.name)
  }

  valueOf(number: number, key: string): unknown {
    const asset = this.assets[number]
    return asset === undefined ? undefined : this.#valueOf(asset, fieldKeyOf(key))
  }

  /** `isOwn`: the values are the assets' own names or ids (a key of `assetKeys`, or `nameField`). */
  #updatedField(key: string, name: string, isOwn: boolean, valueOf: (asset: Asset) => unknown): AssetField {
    const known = this.#fields.get(key)
    if (known?.count === this.assets.length && known.isAssetKey === isOwn) return known.field
    // A key of `assetKeys` means another field from the first asset on that has a field of that name.
    const values = known?.isAssetKey === isOwn ? known.values : new FieldValues()
    values.add(this.assets.slice(values.values.length).map(valueOf))
    const field = assetFieldOf(name, values, isOwn)
    this.#fields.set(key, { field, values, count: this.assets.length, isAssetKey: isOwn })
    return field
  }

  #valueOf(asset: Asset, key: string): unknown {
    const spellings = this.#spellings.get(key)
    if (spellings === undefined) return assetKeys.get(key)?.(asset)
    for (const spelling of spellings) {
      const value = Object.hasOwn(asset.rowData, spelling) ? asset.rowData[spelling] : undefined
      if (value !== undefined && value !== null && value !== '') return value
    }
    return undefined
  }

  #addSpelling(spelling: string): void {
    if (this.#spellingsMet.has(spelling)) return
    this.#spellingsMet.add(spelling)
    const key = fieldKeyOf(spelling)
    const known = this.#spellings.get(key)
    if (known === undefined) this.#spellings.set(key, [spelling])
    else known.push(spelling)
  }
}
