// Memory for what a download receives, in pieces of a block's size. It is taken from what was given back, where there is any:
// fresh memory costs page faults, and each 64 MiB of it a garbage collection. Memory that is not given back is collected as any.

/** Size of a piece (bytes). */
export const pieceBytes: number = 128 * 1024
/** Most pieces that wait to be taken again. */
const mostFree = 128

const free: ArrayBufferLike[] = []
/** Whole pieces that can be given back. */
const taken = new WeakSet<ArrayBufferLike>()

/** Returns memory with any content: a piece, or less where `bytes` is less. */
export function takeMemory(bytes: number): Uint8Array {
  if (bytes < pieceBytes) return Buffer.allocUnsafeSlow(bytes)
  const buffer = free.pop() ?? Buffer.allocUnsafeSlow(pieceBytes).buffer
  taken.add(buffer)
  return new Uint8Array(buffer)
}

/** True for all bytes of a piece that can be given back. */
export function isWholePiece({ buffer, length }: Uint8Array): boolean {
  return length === pieceBytes && taken.has(buffer)
}

/** Gives a piece back. It will be written to: nothing may refer to it any more. */
export function giveMemoryBack({ buffer }: Uint8Array): void {
  if (taken.delete(buffer) && free.length < mostFree) free.push(buffer)
}

/** Leaves a piece to the garbage collector. */
export function keepMemory({ buffer }: Uint8Array): void {
  taken.delete(buffer)
}
