// How alike two numbers are. The sum paid differs from the sum owed in ways that have names: a discount, a fee, a sum
// made round, one of two instalments, two digits that changed places. A difference with a name is a likeness; one
// without is mostly chance, the more so the larger it is.

/** Discounts, in per cent. */
const discounts = [1, 1.5, 2, 2.5, 3, 4, 5]
/** Fees are whole multiples of this, and not more than that. */
const feeStep = 0.5
const largestFee = 25
const largestFeeShare = 0.1
/** Half a cent, and what binary arithmetic adds. */
const tolerance = 0.0051

const discountSimilarity = 0.95
const instalmentSimilarity = 0.75
const swappedSimilarity = 0.75
const maxUnexplainedSimilarity = 0.9

/** 1 for the same number, 0 for different ones. `given` is what came, `own` what the asset says. */
export function similarityOfNumbers(value: number, assetValue: number): number {
  if (value === assetValue) return 1
  const apart = Math.abs(value - assetValue) / Math.max(Math.abs(value), Math.abs(assetValue))
  // Whole numbers are equal or not; others may have lost their last digit to binary arithmetic.
  if (apart < 1e-9 && !(Number.isInteger(value) && Number.isInteger(assetValue))) return 1
  return Math.max(explainedSimilarity(value, assetValue), (1 - apart * 10) * maxUnexplainedSimilarity)
}

/** How much of a likeness the difference is by itself; 0 where it has no name. */
export function explainedSimilarity(value: number, assetValue: number): number {
  if (value <= 0 || assetValue <= 0) return 0
  const less = assetValue - value
  if (less > 0) {
    if (discounts.some((percent) => isSame(value, assetValue * (1 - percent / 100))))
      return discountSimilarity
    const isRound = isSame(less / feeStep, Math.round(less / feeStep))
    if (isRound && less <= Math.min(largestFee, assetValue * largestFeeShare)) return discountSimilarity
    if (isDistinctive(assetValue) && isSame(value, assetValue / 2)) return instalmentSimilarity
  }
  if (Number.isInteger(value) && !Number.isInteger(assetValue) && Math.abs(less) < 1)
    return discountSimilarity
  return isDistinctive(assetValue) && areSwapped(value, assetValue) ? swappedSimilarity : 0
}

function isSame(a: number, b: number): boolean {
  return Math.abs(a - b) <= tolerance
}

/** Three digits and more before the zeros at the end: of round numbers many are halves of others. */
function isDistinctive(number: number): boolean {
  return centsOf(number).replace(/0+$/, '').length >= 3
}

/** Two neighbouring digits have changed places. */
function areSwapped(a: number, b: number): boolean {
  const [x, y] = [centsOf(a), centsOf(b)]
  const length = Math.max(x.length, y.length)
  const [padded, other] = [x.padStart(length, '0'), y.padStart(length, '0')]
  for (let at = 0; at + 1 < length; at++) {
    if (padded[at] === other[at]) continue
    return (
      padded[at] === other[at + 1] &&
      padded[at + 1] === other[at] &&
      padded.slice(at + 2) === other.slice(at + 2)
    )
  }
  return false
}

function centsOf(number: number): string {
  return String(Math.round(number * 100))
}
