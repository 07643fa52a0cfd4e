// Similarity of two numbers, the input's and the asset's. Sums paid and owed may differ by a discount, a fee, a rounded sum, the
// first of two instalments, or two swapped digits. A difference with such an explanation has a fixed similarity. Without one,
// the similarity decreases to 0 at a difference of 10 %.

/** Discounts, in per cent. */
const discounts = [1, 1.5, 2, 2.5, 3, 4, 5]
/** Fees are multiples of `feeStep`, up to `largestFee` and `largestFeeShare` of the sum. */
const feeStep = 0.5
const largestFee = 25
const largestFeeShare = 0.1
/** Half a cent, and the error of binary arithmetic. */
const tolerance = 0.0051

/** Also for fees and rounded sums. */
const discountSimilarity = 0.95
const instalmentSimilarity = 0.75
const swappedSimilarity = 0.75
const maxUnexplainedSimilarity = 0.9

/** Returns 1 for equal numbers … 0 for different ones. `value` is the input's, `other` the asset's. */
export function similarityOfNumbers(value: number, other: number): number {
  if (value === other) return 1
  const apart = Math.abs(value - other) / Math.max(Math.abs(value), Math.abs(other))
  // Numbers with decimals may differ by the error of binary arithmetic, whole numbers not.
  if (apart < 1e-9 && !(Number.isInteger(value) && Number.isInteger(other))) return 1
  return Math.max(explainedSimilarity(value, other), (1 - apart * 10) * maxUnexplainedSimilarity)
}

/** The similarity of two different numbers by the explanation of their difference alone; 0 where it has none. */
export function explainedSimilarity(value: number, other: number): number {
  if (value <= 0 || other <= 0) return 0
  const less = other - value
  if (less > 0) {
    if (discounts.some((percent) => isSame(value, other * (1 - percent / 100)))) return discountSimilarity
    const isRound = isSame(less / feeStep, Math.round(less / feeStep))
    if (isRound && less <= Math.min(largestFee, other * largestFeeShare)) return discountSimilarity
    if (isDistinctive(other) && isSame(value, other / 2)) return instalmentSimilarity
  }
  if (Number.isInteger(value) && !Number.isInteger(other) && Math.abs(less) < 1) return discountSimilarity
  return isDistinctive(other) && areSwapped(value, other) ? swappedSimilarity : 0
}

function isSame(a: number, b: number): boolean {
  return Math.abs(a - b) <= tolerance
}

/** True for three digits (of cents) or more before the zeros at the end: many round numbers are halves of others by chance. */
function isDistinctive(number: number): boolean {
  return centsOf(number).replace(/0+$/, '').length >= 3
}

/** True where the numbers differ by two neighbouring digits that are swapped. */
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
