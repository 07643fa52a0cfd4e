// Parses numbers as people write them: 1,234.56 · 1.234,56 · 1 234,56 · 1'234.56 · (12.00) · 12- · EUR 12 · 12 € · 19 %.

/** A number and its unit. */
export interface Amount {
  /** The numbers that the text may mean; two for `1,234` (1234 or 1.234). */
  readonly readings: readonly number[]
  /** ISO 4217 code or `%`; undefined where the text has none. */
  readonly unit: string | undefined
}

const currencySigns: ReadonlyMap<string, string> = new Map([
  ['€', 'EUR'],
  ['$', 'USD'],
  ['£', 'GBP'],
  ['¥', 'JPY'],
  ['₹', 'INR'],
  ['₽', 'RUB'],
  ['₩', 'KRW'],
  ['₺', 'TRY'],
  ['%', '%'],
])
// Computed when it is first needed: that takes 9 ms.
let currencyCodes: ReadonlySet<string> | undefined

/** Longer numbers (account numbers, for instance) are compared as text: a double does not hold them exactly. */
const maxDigits = 15

const amountPattern =
  /^(?<open>\()?(?<sign>[+-])?(?<before>[a-z]{3}|[€$£¥₹₽₩₺])?(?<inner>[+-])?(?<digits>\d[\d.,' ]*)(?<after>[a-z]{3}|[€$£¥₹₽₩₺%])?(?<trailing>-)?(?<close>\))?$/i

/** Parses a text as a number; undefined where the whole text is not one. */
export function readAmount(text: string): Amount | undefined {
  const parts = amountPattern.exec(plainOf(text))?.groups
  if (parts === undefined) return undefined
  const unit = unitOf(parts['before'] ?? parts['after'])
  if (unit === undefined || (parts['before'] !== undefined && parts['after'] !== undefined)) return undefined
  if ((parts['open'] === undefined) !== (parts['close'] === undefined)) return undefined
  const readings = readDigits(parts['digits'] ?? '')
  if (readings.length === 0) return undefined
  const minuses = [parts['sign'], parts['inner'], parts['trailing']].filter((sign) => sign === '-').length
  const isNegative = minuses > 0 || parts['open'] !== undefined
  return {
    readings: isNegative ? readings.map((reading) => -reading) : readings,
    unit: unit === '' ? undefined : unit,
  }
}

function plainOf(text: string): string {
  return text
    .trim()
    .replaceAll(/[\u2212\u2013]/g, '-')
    .replaceAll('’', "'")
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([€$£¥₹₽₩₺%()+-]) ?/g, '$1')
    .replaceAll(/(?<=[a-z]) (?=[\d+-])|(?<=[\d-]) (?=[a-z])/gi, '')
}

// Returns '' for no unit, undefined for letters that are not a currency code.
function unitOf(mark: string | undefined): string | undefined {
  if (mark === undefined) return ''
  const sign = currencySigns.get(mark)
  if (sign !== undefined) return sign
  const code = mark.toUpperCase()
  currencyCodes ??= new Set(Intl.supportedValuesOf('currency'))
  return currencyCodes.has(code) ? code : undefined
}

const grouped: readonly { readonly digits: RegExp; readonly group: string; readonly point: string }[] = [
  { digits: /^\d{1,3}(,\d{2,3})*,\d{3}(\.\d+)?$/, group: ',', point: '.' },
  { digits: /^\d{1,3}(\.\d{3})+(,\d+)?$/, group: '.', point: ',' },
  { digits: /^\d{1,3}( \d{3})+([.,]\d+)?$/, group: ' ', point: '.' },
  { digits: /^\d{1,3}('\d{3})+([.,]\d+)?$/, group: "'", point: '.' },
]

function readDigits(digits: string): number[] {
  if (digits.replaceAll(/\D/g, '').length > maxDigits) return []
  const readings = new Set<number>()
  for (const form of grouped) {
    if (form.digits.test(digits)) {
      const bare = digits.replaceAll(form.group, '').replace(',', '.')
      readings.add(Number(form.point === ',' ? bare.replace(form.point, '.') : bare))
    }
  }
  if (/^\d+([.,]\d+)?$/.test(digits)) readings.add(Number(digits.replace(',', '.')))
  // `0.123` and `0,123` cannot be thousands.
  if (/^0[.,]/.test(digits)) readings.delete(Number(digits.replaceAll(/\D/g, '')))
  return [...readings]
}
