// Parts that only a folder has: its nodes, the names kept in it whatever a listing says, whether the service knows it, and
// the names that the door was told.

import { Undoable, UndoableMap, UndoableSet } from '../../../content/spool/undo.ts'
import { FolderOrder } from '../folder-order.ts'

interface Known {
  readonly isMadeHere: boolean
  readonly isOnlyHere: boolean
}

const initial: Known = { isMadeHere: false, isOnlyHere: false }

/** `Child` is a node. */
export class FolderPart<Child> extends Undoable<Known> {
  readonly #children = new UndoableMap<string, Child>()
  readonly #kept = new UndoableSet<string>()
  #order: FolderOrder | undefined
  #droppedNames: string | undefined
  #minRequestedAt = 0
  #generation = 0
  #listedGeneration = -1

  constructor() {
    super(initial)
  }

  /** Live nodes by name. Written by `Places` and `NodeTable`. */
  get children(): ReadonlyMap<string, Child> {
    return this.#children
  }

  /** Names of children that exist whatever a listing says: unsent, local-only, made here, or just sent. Written by `Places`. */
  get kept(): ReadonlySet<string> {
    return this.#kept
  }

  /** This child has the name; undefined for none. */
  put(name: string, child: Child | undefined): void {
    if (child === undefined) this.#children.delete(name)
    else this.#children.set(name, child)
  }

  /** The child of this name exists whatever a listing says. */
  keep(name: string): void {
    this.#kept.add(name)
  }

  /** A listing decides on the name, which was kept. */
  unkeep(name: string): void {
    this.#kept.delete(name)
  }

  /** mkdir made it here; the service learns of it when a file lands in it. */
  get isMadeHere(): boolean {
    return this.now.isMadeHere
  }

  /** Made here by this run, and nothing in it was ever handed in to be sent: the service knows nothing of it. */
  get isOnlyHere(): boolean {
    return this.now.isOnlyHere
  }

  /** It exists here, whatever the service makes of it. */
  makeHere(): void {
    this.alter({ isMadeHere: true })
  }

  /** The service knows nothing of it. */
  makeOnlyHere(): void {
    this.alter({ isOnlyHere: true })
  }

  /** Something in it is handed in: the service may know it from now on. */
  handIn(): void {
    this.alter({ isOnlyHere: false })
  }

  /** The service has it. */
  markCreatedRemotely(): void {
    this.alter(initial)
  }

  /** When what is known of it came (ms), be it known no longer: an answer to an earlier question may be older than that. */
  get minRequestedAt(): number {
    return this.#minRequestedAt
  }

  /** Something is known of it since `at` (ms). */
  setMinRequestedAt(at: number): void {
    this.#minRequestedAt = at
  }

  /** Grows with every change of the visible names. */
  get generation(): number {
    return this.#generation
  }

  /** Its visible names are others now. */
  change(): void {
    this.#generation++
  }

  /** The door was given a listing of it. */
  get wasListed(): boolean {
    return this.#listedGeneration !== -1
  }

  /** The listing that the door was last given is of now. */
  get isListedAsItIs(): boolean {
    return this.#listedGeneration === this.#generation
  }

  /** The door is given its names as they are now. */
  markListed(): void {
    this.#listedGeneration = this.#generation
  }

  /** Its listing is given up, which said this (its digest). */
  dropListing(digest: string): void {
    this.#droppedNames = digest
  }

  /** The digest of the listing that was dropped last, told once; undefined where none was since. */
  takeDropped(): string | undefined {
    const dropped = this.#droppedNames
    this.#droppedNames = undefined
    return dropped
  }

  /** The order its names are told in. */
  get order(): FolderOrder {
    return (this.#order ??= new FolderOrder())
  }

  /** Its names were told in an order, and a program may go on from there. */
  get hasOrder(): boolean {
    return this.#order !== undefined
  }

  /** No handle is going on from the places told. */
  forgetOrder(): void {
    this.#order = undefined
  }
}
