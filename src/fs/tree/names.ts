// Rules for names (segments of a path): the possible ones, the types that the service takes, and the mimetype of a document. A
// name tells a type that the service takes (`a.pdf`), a type that it does not take (`a.zip`, unsupported), or none (`a.tmp`, `a`):
// then the content decides.

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
  if (isTrashName(name)) throw new ErrnoError('EPERM', 'the trash is a folder in the root of the drive')
}

/** As `checkName`, for a new folder at `path`. `hasTrash`: file managers may make a trash folder in the root. */
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

/** Words for content that is of no type the service stores, under a name that tells none. */
const noStoredType = 'files with such content'

/** Decides the mimetype a document is sent with (interface, "Document": 17 values). */
export class TypePolicy {
  readonly #fallback: Mimetype | undefined

  /** `unsupportedAs`: mimetype for documents of an unsupported type. Throws EINVAL if the service does not take it either. */
  constructor(unsupportedAs: string | undefined) {
    if (unsupportedAs !== undefined && !isMimetype(unsupportedAs)) {
      throw new ErrnoError('EINVAL', `the service does not take ${unsupportedAs} (--unsupported-as)`)
    }
    this.#fallback = unsupportedAs
  }

  /** Throws UnsupportedTypeError for a name whose type the service does not take. */
  checkName(name: string): void {
    const kind = this.#unsupported(name)
    if (kind !== undefined) throw new UnsupportedTypeError(name, kind)
  }

  /** Returns the mimetype of a document: of its name, or of its content if the name tells none. Throws UnsupportedTypeError. */
  async mimetypeOf(name: string, content: ReadableContent): Promise<Mimetype> {
    const mimetype =
      mimetypeOfName(name) ??
      (isTypeDecidedByContent(name) ? await mimetypeOfContent(content) : undefined) ??
      this.#fallback
    if (mimetype === undefined) throw new UnsupportedTypeError(name, this.#unsupported(name) ?? noStoredType)
    return mimetype
  }

  /**
   * Like `mimetypeOf`, for a file that was a document before: renamed to a name that tells no type (`report.pdf~`), it keeps
   * the type of its former name. Throws UnsupportedTypeError.
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
   * Throws UnsupportedTypeError if no document of a stored type begins with these bytes. If only the end of the content tells
   * the type, the name that the file is to have in the end decides.
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

/**
 * True if the beginning is not written yet: a program may write it last, and no type that the service takes begins with four
 * zeroes.
 */
function isUnwritten(head: Uint8Array): boolean {
  return head.subarray(0, 4).every((byte) => byte === 0)
}
