// Getters and setters for one field of a kernel structure: native byte order, 64-bit integers as JavaScript numbers.

import { endianness } from 'node:os'

const isLittleEndian = endianness() === 'LE'
const high = isLittleEndian ? 4 : 0
const low = isLittleEndian ? 0 : 4

/** Returns a DataView of exactly these bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function getU32(view: DataView, at: number): number {
  return view.getUint32(at, isLittleEndian)
}

/** Returns an unsigned number: exact up to 2^53, enough for node ids, handles and request ids; larger ones are rounded. */
export function getU64(view: DataView, at: number): number {
  return view.getUint32(at + high, isLittleEndian) * 2 ** 32 + view.getUint32(at + low, isLittleEndian)
}

export function getI64(view: DataView, at: number): number {
  return view.getInt32(at + high, isLittleEndian) * 2 ** 32 + view.getUint32(at + low, isLittleEndian)
}

export function setU16(view: DataView, at: number, value: number): void {
  view.setUint16(at, value, isLittleEndian)
}

export function setU32(view: DataView, at: number, value: number): void {
  view.setUint32(at, value, isLittleEndian)
}

export function setI32(view: DataView, at: number, value: number): void {
  view.setInt32(at, value, isLittleEndian)
}

/** Takes negative numbers too (times before 1970). */
export function set64(view: DataView, at: number, value: number): void {
  view.setUint32(at + low, value >>> 0, isLittleEndian)
  view.setInt32(at + high, Math.floor(value / 2 ** 32), isLittleEndian)
}
