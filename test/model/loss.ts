/** Something was lost, doubled or resurrected. */
export class Loss extends Error {
  override readonly name = 'Loss'
}
