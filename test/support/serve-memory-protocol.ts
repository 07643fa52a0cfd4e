// Messages between a test and its `serve-memory` program. Types only.

import type { CloseReason, DriverName } from '../../src/fuse/driver.ts'
import type { LetGo, Operations } from '../../src/fs/operations.ts'
import type { MemoryFileSystemOptions } from './memory-file-system.ts'

export type OperationName = keyof Operations

export interface ServeMemoryOptions {
  readonly mountpoint: string
  /** Default: kernel. */
  readonly driver?: DriverName
  readonly source?: string
  readonly readOnly?: boolean
  readonly allowOther?: boolean
  readonly fileSystem?: MemoryFileSystemOptions
  /** Serves the filesystem itself, without counting and holding: for measuring. */
  readonly isPlain?: boolean
}

/** Writes a file behind the kernel's back and, where asked, tells the kernel. */
export interface Put {
  readonly kind: 'put'
  readonly path: string
  readonly text: string
  readonly notify?: 'entry' | 'content' | 'attributes'
}

type WishForMount = (
  | { readonly kind: 'unmount'; readonly isLazy: boolean }
  | { readonly kind: 'counts' }
  | { readonly kind: 'hold'; readonly operation: OperationName; readonly ignoresSignal?: boolean }
  | { readonly kind: 'letGo'; readonly operation: OperationName }
  | Put
  | { readonly kind: 'notifyName'; readonly parent: number; readonly name: string }
  | { readonly kind: 'notifyLetGo'; readonly nodes: readonly LetGo[] }
) & {
  /** Which mount of the program; default the first. */
  readonly index?: number
}

export type Wish =
  | WishForMount
  | { readonly kind: 'mount'; readonly mountpoint: string }
  | { readonly kind: 'exit' }
  /** An error nobody catches. */
  | { readonly kind: 'bug' }

export type Question = Wish & { readonly id: number }

export interface Counts {
  /** Nodes the kernel holds references on, the root not counted. */
  readonly rememberedNodes: number
  readonly openHandles: number
  /** Calls by operation since the last look. */
  readonly calls: Readonly<Partial<Record<OperationName, number>>>
  /** Calls held back now. */
  readonly waiting: number
  /** After a full collection. */
  readonly heapBytes: number
}

export interface Failure {
  readonly code: string
  readonly message: string
}

export type Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly error: Failure }
  | { readonly kind: 'answer'; readonly id: number; readonly value?: unknown; readonly error?: Failure }
  | { readonly kind: 'closed'; readonly reason: CloseReason; readonly mountpoint: string }
