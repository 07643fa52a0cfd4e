// One segment of a path: which are possible, and which the service would take.

import { mimetypeOfContent, mimetypeOfHead } from '../../api/mimetype-of-content.ts'
import { isTypeDecidedByContent, mimetypeOfName } from '../../api/mimetype-of.ts'
import { isMimetype, type Mimetype } from '../../api/mimetypes.ts'
import type { ReadableContent } from '../../api/readable-content.ts'
import { isOfUnsupportedKind, kindOfUnsupported } from '../../api/unsupported-kind.ts'
import { ErrnoError } from '../../errno-error.ts'
import { folderOf, nameMaxBytes, nameOf } from '../../path.ts'
import { finalName, isTrashName } from './scratch.ts'
import { isInTrash } from './trash.ts'

/** Throws ENAMETOOLONG, EINVAL, EILSEQ or EPERM for a name that cannot be made here. */
export function checkName(name: string): void {
  if (Buffer.byteLength(name) > nameMaxBytes)
    throw new ErrnoError('ENAMETOOLONG', `names are at most ${nameMaxBytes} bytes long`)
  if (name === '' || name === '.' || name === '..') throw new ErrnoError('EINVAL', `"${name}" is not a name`)
  if (name.includes('/') || name.includes('\0'))
    throw new ErrnoError('EINVAL', 'a name has no slash and no NUL')
  if (name.includes('\uFFFD')) throw new ErrnoError('EILSEQ', 'names are valid UTF-8')
  if (isTrashName(name)) throw new ErrnoError('EPERM', 'no trash here: documents are deleted for good')
}

/** The same of a name for a folder. `hasTrash`: file managers may make their own in the root. */
export function checkFolderName(path: string, hasTrash: boolean): void {
  if (!hasTrash || !isInTrash(path) || folderOf(path) !== '/') checkName(nameOf(path))
}

/** The service takes no documents of this type. */
export class UnsupportedTypeError extends ErrnoError {
  /** The kind of content that is refused: `zip files (archives)`. */
  readonly what: string

  constructor(name: string, what: string) {
    super(
      'EOPNOTSUPP',
      `${name}: the service takes no ${what} (--unsupported-as MIMETYPE sends it as another type)`,
    )
    this.what = what
  }
}

/** The words of a refusal for content that is of no stored type, under a name that tells none. */
const noStoredType = 'files with such content'

/** Decides the mimetype a document is sent with (interface, "Document": 17 values). */
export class TypePolicy {
  readonly #fallback: Mimetype | undefined

  /** `unsupportedAs`: the mimetype for what is of no known type. Throws EINVAL where the service does not take it either. */
  constructor(unsupportedAs: string | undefined) {
    if (unsupportedAs !== undefined && !isMimetype(unsupportedAs)) {
      throw new ErrnoError('EINVAL', `the service does not take ${unsupportedAs} (--unsupported-as)`)
    }
    this.#fallback = unsupportedAs
  }

  /** Throws UnsupportedTypeError for the name of a kind that the service does not take. */
  checkName(name: string): void {
    const kind = this.#unsupported(name)
    if (kind !== undefined) throw new UnsupportedTypeError(name, kind)
  }

  /** The mimetype of a document, by its content where its name tells none. Throws UnsupportedTypeError. */
  async mimetypeOf(name: string, content: ReadableContent): Promise<Mimetype> {
    const mimetype =
      mimetypeOfName(name) ??
      (isTypeDecidedByContent(name) ? await mimetypeOfContent(content) : undefined) ??
      this.#fallback
    if (mimetype === undefined) throw new UnsupportedTypeError(name, this.#unsupported(name) ?? noStoredType)
    return mimetype
  }

  /**
   * The same of what was taken as a document before: renamed to a name that tells no type (`report.pdf~`), it stays what its name
   * said. Throws UnsupportedTypeError.
   */
  async mimetypeOfDocument(name: string, content: ReadableContent): Promise<Mimetype> {
    const former = mimetypeOfName(name.endsWith('~') ? name.slice(0, -1) : finalName(name))
    return this.mimetypeOf(name, content).catch((error: unknown) => {
      const isTypeUndecided = error instanceof UnsupportedTypeError && isTypeDecidedByContent(name)
      if (former === undefined || !isTypeUndecided) throw error
      return former
    })
  }

  /**
   * Throws UnsupportedTypeError where what begins so becomes no document of a stored type, however it goes on. Of what only its end
   * tells, the name that a file is to have in the end may say so.
   */
  async checkBeginning(name: string, head: Uint8Array): Promise<void> {
    if (this.#fallback !== undefined) return
    const found = isUnwritten(head) ? 'undetermined' : await mimetypeOfHead(head)
    if (found === undefined) throw new UnsupportedTypeError(name, noStoredType)
    const kind = found === 'undetermined' ? this.#unsupported(finalName(name)) : undefined
    if (kind !== undefined) throw new UnsupportedTypeError(name, kind)
  }

  #unsupported(name: string): string | undefined {
    return this.#fallback === undefined && isOfUnsupportedKind(name) ? kindOfUnsupported(name) : undefined
  }
}

/** A program may write the beginning last; nothing that the service takes begins with four zeroes. */
function isUnwritten(head: Uint8Array): boolean {
  return head.subarray(0, 4).every((byte) => byte === 0)
}
