// Splits the input's `data` into items to be matched, and writes results back into an object of the same shape.
//
//   { vendor: "A", total: 1 }                 one item
//   { vendor: ["A", "B"], total: [1, 2] }     two items: lists of values are columns, read side by side
//   { lines: [{ sku: 1 }, { sku: 2 }] }       two items: each list of objects is a separate group
//   { currency: "EUR", vendor: ["A", "B"] }   two items; the single value belongs to both

/** One value of the input, and the path at which its result is written. */
export interface Cell {
  readonly key: string
  readonly value: unknown
  readonly path: readonly (string | number)[]
}

/** The values that are matched to one asset. */
export interface Item {
  /** Its name in sentences: `item 2`, `orders.csv row 1`; empty for the only item. */
  readonly label: string
  readonly cells: readonly Cell[]
}

/** Items that compete for assets: within a group each asset is matched at most once. */
export interface Group {
  readonly items: readonly Item[]
  /** Single values beside lists: each belongs to every item of the group. */
  readonly shared: readonly Cell[]
}

export interface InputShape {
  readonly groups: readonly Group[]
  /** The values all groups share. */
  readonly shared: readonly Cell[]
  /** The input's shape with every value null. */
  readonly blank: Record<string, unknown>
}

/** Objects nested more deeply are compared as one value. */
const maxDepth = 8

export function shapeOf(data: Readonly<Record<string, unknown>>): InputShape {
  const singles: Cell[] = []
  // By list, then index: the path of a list of objects, or '' for all lists of values.
  const lists = new Map<string, Map<number, Cell[]>>()
  const add = (list: string, at: number, cell: Cell): void => {
    const items = lists.get(list) ?? new Map<number, Cell[]>()
    lists.set(list, items.set(at, [...(items.get(at) ?? []), cell]))
  }
  const walk = (members: Readonly<Record<string, unknown>>, path: readonly (string | number)[]): void => {
    for (const [key, value] of Object.entries(members)) {
      const here = [...path, key]
      if (Array.isArray(value)) {
        for (const [at, element] of value.entries()) {
          if (!isObject(element)) add('', at, { key, value: element, path: [...here, at] })
          else for (const cell of cellsOf(element, [...here, at])) add(here.join('.'), at, cell)
        }
      } else if (isObject(value) && path.length < maxDepth) walk(value, here)
      else singles.push({ key, value, path: here })
    }
  }
  walk(data, [])
  const blank = blankOf(data, 0) as Record<string, unknown>
  if (lists.size === 0) {
    const groups = singles.length === 0 ? [] : [{ items: [{ label: '', cells: singles }], shared: [] }]
    return { groups, shared: [], blank }
  }
  const groups = [...lists].map(([list, items]) => ({
    items: [...items]
      .sort(([a], [b]) => a - b)
      .map(([at, cells]) => ({ label: `${list === '' ? 'item' : `${list} item`} ${at + 1}`, cells })),
    shared: singles,
  }))
  return { groups, shared: singles, blank }
}

/** The shape of `data` with every value null: the result of a run that failed before it matched anything. */
export function blankData(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return shapeOf(data).blank
}

/** The rows of a file as a group, whose results are written to `data[file]`, a list of objects. */
export function groupOfRows(file: string, rows: readonly Readonly<Record<string, unknown>>[]): Group {
  return {
    items: rows.map((row, at) => ({ label: `${file} row ${at + 1}`, cells: cellsOf(row, [file, at]) })),
    shared: [],
  }
}

/** A copy in which every value is null; objects keep their keys, lists their length. */
export function blankOf(value: unknown, depth: number): unknown {
  if (depth > maxDepth + 2) return null
  if (Array.isArray(value)) return value.map((element: unknown) => blankOf(element, depth + 1))
  if (!isObject(value)) return null
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, blankOf(member, depth + 1)]))
}

/** Sets the value at `path` in an object that `blankOf` made. */
export function writeAt(blank: unknown, path: readonly (string | number)[], value: unknown): void {
  let holder = blank as Record<string | number, unknown>
  for (const step of path.slice(0, -1)) holder = holder[step] as Record<string | number, unknown>
  const last = path.at(-1)
  if (last !== undefined) holder[last] = value
}

function cellsOf(members: Readonly<Record<string, unknown>>, path: readonly (string | number)[]): Cell[] {
  return Object.entries(members).map(([key, value]) => ({ key, value, path: [...path, key] }))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
