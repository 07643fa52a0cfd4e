// Types of the messages between a test and its `serve-memory` program.

import type { CloseReason, DriverName } from '../../src/fuse/driver.ts'
import type { UnusedNode, Operations } from '../../src/fs/operations.ts'
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
  /** True: serves the filesystem without `HeldOperations`, for benchmarks. */
  readonly isPlain?: boolean
}

/** Writes a file without the kernel's knowledge, and sends the kernel a notification if `notify` is set. */
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
  | { readonly kind: 'notifyUnused'; readonly nodes: readonly UnusedNode[] }
) & {
  /** Index of the program's mount; default: the first. */
  readonly index?: number
}

export type Wish =
  | WishForMount
  | { readonly kind: 'mount'; readonly mountpoint: string }
  | { readonly kind: 'exit' }
  /** Throws an uncaught error. */
  | { readonly kind: 'bug' }

export type Question = Wish & { readonly id: number }

export interface Counts {
  /** Number of nodes, without the root, on which the kernel holds lookup references. */
  readonly rememberedNodes: number
  readonly openHandles: number
  /** Number of calls by operation, since the last `counts`. */
  readonly calls: Readonly<Partial<Record<OperationName, number>>>
  /** Number of calls being held back. */
  readonly waiting: number
  /** Heap in use after a full garbage collection. */
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
