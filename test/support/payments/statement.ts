// A ledger of open invoices and a bank statement that pays most of them, as accounts departments see them: names cut and
// misspelt by banks, cash discounts, fees, references half written, customers who pay the same sum every month, and payments
// for no open invoice. Generated from a seed, with the correct matches.

import { Random } from './random.ts'

interface Invoice {
  readonly invoice_number: string
  readonly customer: string
  readonly amount: number
  /** `YYYY-MM-DD`. */
  readonly date: string
}

/** A line of the statement, under the ledger's field names. */
interface Payment {
  /** Reference as the payer wrote it; may be empty. */
  readonly invoice_number: string
  readonly customer: string
  readonly amount: string
  readonly date: string
}

export interface Statement {
  readonly invoices: readonly Invoice[]
  readonly payments: readonly Payment[]
  /** Per payment: the index of its invoice; undefined if it pays none of them. */
  readonly truth: readonly (number | undefined)[]
}

const invoiceCount = 600
const paymentCount = 416
const customerCount = 140
const firstDay = Date.UTC(2026, 0, 2)
const dayMs = 86_400_000
/** Share of payments for something that is not in the ledger. */
const strayShare = 0.2

export function makeStatement(seed: number): Statement {
  const random = new Random(seed)
  const customers = makeCustomers(random)
  const invoices = makeInvoices(random, customers)
  const paid = random
    .shuffled(invoices.map((_, at) => at))
    .slice(0, Math.round(paymentCount * (1 - strayShare)))
  const lines: { payment: Payment; invoice: number | undefined }[] = paid.map((invoice) => ({
    payment: paymentOf(random, invoices[invoice]!, invoices, customers),
    invoice,
  }))
  while (lines.length < paymentCount)
    lines.push({ payment: strayOf(random, invoices, customers), invoice: undefined })
  const shuffled = random.shuffled(lines)
  return {
    invoices,
    payments: shuffled.map(({ payment }) => payment),
    truth: shuffled.map(({ invoice }) => invoice),
  }
}

// --- the ledger

const roots =
  'Nordlicht Elbtal Sonnenhof Brücker Müller Schäfer Lindner Kaufmann Albatros Rheingold Weber Hansen Jäger Krüger Vogel ' +
  'Alpina Borealis Cobalt Fjord Helios Juno Lumen Meridian Novum Orion Pinnacle Quercus Sirius Tundra Vektor Zenit Aurora ' +
  'Baumann Claasen Dietrich Engel Falk Görtz Huber Ivens Kessler Lorenz Maurer Neumann Oster Petersen'
const trades =
  'Handels Logistik Bau Technik Elektro Metallbau Druck Medien Consulting Immobilien Transport Gartenbau Software Systeme ' +
  'Catering Möbel Optik Reisen Textil Verpackung'
const forms = ['GmbH', 'GmbH & Co. KG', 'AG', 'KG', 'e.K.', 'UG', 'OHG', 'Ltd', 'SARL']
const givenNames =
  'Anna Bernd Clara Dieter Eva Frank Gisela Heinz Ines Jürgen Karin Lars Monika Nils Petra Ralf Sabine Uwe'

function makeCustomers(random: Random): string[] {
  const names = new Set<string>()
  const [root, trade, given] = [roots, trades, givenNames].map((words) => words.split(' ')) as [
    string[],
    string[],
    string[],
  ]
  while (names.size < customerCount) {
    names.add(
      random.weighted([
        [5, () => `${random.pick(root)} ${random.pick(trade)} ${random.pick(forms)}`],
        [2, () => `${random.pick(root)} ${random.pick(forms)}`],
        [1, () => `${random.pick(root)} & ${random.pick(root)} ${random.pick(trade)} ${random.pick(forms)}`],
        [2, () => `${random.pick(given)} ${random.pick(root)}`],
      ])(),
    )
  }
  return [...names]
}

function makeInvoices(random: Random, customers: readonly string[]): Invoice[] {
  const drafts: { customer: string; amount: number; day: number }[] = []
  // Rents, retainers, service contracts: the same sum on the same day of several months.
  while (drafts.length < invoiceCount * 0.18) {
    const customer = random.pick(customers)
    const amount = random.pick([random.between(4, 60) * 25, amountOf(random)])
    const start = random.between(0, 60)
    for (let month = 0; month < random.between(2, 5); month++)
      drafts.push({ customer, amount, day: start + month * 30 })
  }
  while (drafts.length < invoiceCount) {
    // Few customers get most invoices.
    const customer = customers[Math.floor(customers.length * random.next() ** 2)]!
    const isRound = random.next() < 0.12
    drafts.push({
      customer,
      amount: isRound ? random.pick([50, 100, 120, 150, 200, 250, 300, 500, 750, 1000]) : amountOf(random),
      day: random.between(0, 240),
    })
  }
  drafts.sort((a, b) => a.day - b.day)
  const first = random.between(100, 4000)
  return drafts.map(({ customer, amount, day }, at) => ({
    invoice_number: `RE-2026-${String(first + at).padStart(5, '0')}`,
    customer,
    amount,
    date: dayText(day),
  }))
}

function amountOf(random: Random): number {
  return Math.max(8, Math.round(Math.exp(6 + 1.2 * random.normal()) * 100) / 100)
}

// --- the statement

function paymentOf(
  random: Random,
  invoice: Invoice,
  invoices: readonly Invoice[],
  customers: readonly string[],
): Payment {
  const payer = random.next() < 0.03 ? random.pick(customers) : invoice.customer
  // Some copy the number from the invoice before or after.
  const own = invoices.filter(({ customer }) => customer === invoice.customer)
  const quoted = random.next() < 0.04 ? random.pick(own) : invoice
  return {
    invoice_number: writtenReference(random, quoted.invoice_number),
    customer: writtenName(random, payer),
    amount: writtenAmount(random, paidAmount(random, invoice.amount)),
    date: writtenDay(random, dayOf(invoice.date) + paidAfter(random)),
  }
}

/** Returns a payment for no invoice of the ledger. Its payer or its amount may occur there by coincidence. */
function strayOf(random: Random, invoices: readonly Invoice[], customers: readonly string[]): Payment {
  const near = random.pick(invoices)
  const stranger = `${random.pick(roots.split(' '))}${random.pick(['mann', 'berg', 'stein', 'tal'])} ${random.pick(forms)}`
  const [customer, amount] = random.weighted<readonly [string, number]>([
    [4, [near.customer, amountOf(random)]],
    [3, [random.pick([stranger, random.pick(customers)]), near.amount]],
    [3, [stranger, amountOf(random)]],
  ])
  const year = random.pick([2024, 2025, 2025, 2026])
  return {
    invoice_number: writtenReference(
      random,
      `RE-${year}-${String(random.between(5000, 9999)).padStart(5, '0')}`,
    ),
    customer: writtenName(random, customer),
    amount: writtenAmount(random, amount),
    date: writtenDay(random, random.between(10, 270)),
  }
}

function writtenReference(random: Random, number: string): string {
  const bare = number.replaceAll('-', '')
  const digits = number.split('-').at(-1)!
  return random.weighted([
    [34, () => number],
    [
      12,
      () =>
        random.pick([bare, number.toLowerCase(), number.replaceAll('-', ' '), number.replaceAll('-', '/')]),
    ],
    [
      16,
      () =>
        random.pick([
          `Rechnung ${number}`,
          `Rg.Nr. ${number} vom ${random.between(1, 28)}.${random.between(1, 12)}.`,
          `Invoice ${bare}, danke`,
          `KdNr ${random.between(10_000, 99_999)} ${number}`,
        ]),
    ],
    [6, () => random.pick([digits, `Rg ${digits}`, `Rechnung ${Number(digits)}`])],
    [7, () => misspelt(random, number, '0123456789')],
    [16, () => ''],
    [
      7,
      () =>
        random.pick([
          'Danke',
          'Überweisung',
          `KdNr ${random.between(10_000, 99_999)}`,
          'Zahlung offene Rechnung',
        ]),
    ],
  ])()
}

function writtenName(random: Random, name: string): string {
  const bankText = (text: string): string =>
    text.toUpperCase().replaceAll('Ä', 'AE').replaceAll('Ö', 'OE').replaceAll('Ü', 'UE')
  const short = name.replace(/ (GmbH & Co\. KG|GmbH|AG|KG|e\.K\.|UG|OHG|Ltd|SARL)$/, '')
  return random.weighted([
    [38, () => name],
    [18, () => bankText(name)],
    [14, () => short],
    [8, () => bankText(name).slice(0, random.pick([18, 20, 27]))],
    [8, () => misspelt(random, name, 'aeinrst')],
    [5, () => name.split(' ').toReversed().join(' ')],
    [4, () => `${random.pick(['Fa.', 'Firma', 'c/o'])} ${short}`],
    [
      3,
      () =>
        short
          .split(' ')
          .map((word, at) => (at === 0 ? word : `${word.slice(0, 3)}.`))
          .join(' '),
    ],
    [2, () => short.split(' ')[0]!],
  ])()
}

function misspelt(random: Random, text: string, letters: string): string {
  const at = random.between(1, text.length - 2)
  const letter = random.pick(Array.from(letters))
  return random.pick([
    text.slice(0, at) + text.slice(at + 1),
    text.slice(0, at) + letter + text.slice(at + 1),
    text.slice(0, at) + letter + text.slice(at),
    text.slice(0, at) + text[at + 1]! + text[at]! + text.slice(at + 2),
  ])
}

function paidAmount(random: Random, amount: number): number {
  return random.weighted([
    [84, () => amount],
    // Cash discount.
    [7, () => amount * random.pick([0.97, 0.98])],
    // A bank's fee.
    [4, () => Math.max(1, amount - random.pick([1.5, 5, 7.5, 10, 15]))],
    [2, () => Math.max(1, Math.round(amount))],
    [2, () => amount / 2],
    // Two digits changed places.
    [1, () => Number(String(amount).replace(/(\d)(\d)/, '$2$1'))],
  ])()
}

function writtenAmount(random: Random, amount: number): string {
  const [whole, cents] = amount.toFixed(2).split('.') as [string, string]
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, '.')
  return random.pick([
    `${whole}.${cents}`,
    `${grouped},${cents}`,
    `${grouped},${cents} €`,
    `EUR ${whole},${cents}`,
  ])
}

/** Days from the invoice to its payment. */
function paidAfter(random: Random): number {
  return random.weighted([
    [10, () => random.between(0, 3)],
    [25, () => random.between(4, 13)],
    [40, () => random.between(14, 31)],
    [18, () => random.between(32, 50)],
    [7, () => random.between(51, 95)],
  ])()
}

function writtenDay(random: Random, day: number): string {
  const iso = dayText(day)
  const [year, month, date] = iso.split('-') as [string, string, string]
  return random.weighted([
    [3, iso],
    [5, `${date}.${month}.${year}`],
    [2, `${Number(date)}.${Number(month)}.${year.slice(2)}`],
  ])
}

function dayText(day: number): string {
  return new Date(firstDay + day * dayMs).toISOString().slice(0, 10)
}

function dayOf(text: string): number {
  return Math.round((Date.parse(text) - firstDay) / dayMs)
}
