// The handler of each WebDAV method.

import type { Exchange } from './exchange.ts'
import { copy } from './methods/copy.ts'
import { remove } from './methods/delete.ts'
import { get } from './methods/get.ts'
import { lock } from './methods/lock.ts'
import { mkcol } from './methods/mkcol.ts'
import { move } from './methods/move.ts'
import { options } from './methods/options.ts'
import { propfind } from './methods/propfind.ts'
import { proppatch } from './methods/proppatch.ts'
import { put } from './methods/put.ts'
import { unlock } from './methods/unlock.ts'

export type Method = (exchange: Exchange) => Promise<void>

export const methods: ReadonlyMap<string, Method> = new Map([
  ['OPTIONS', options],
  ['GET', get],
  ['HEAD', get],
  ['PROPFIND', propfind],
  ['PUT', put],
  ['DELETE', remove],
  ['MKCOL', mkcol],
  ['COPY', copy],
  ['MOVE', move],
  ['PROPPATCH', proppatch],
  ['LOCK', lock],
  ['UNLOCK', unlock],
])
