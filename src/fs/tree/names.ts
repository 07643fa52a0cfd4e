// One segment of a path: which are possible, and which the service would take.

import { mimetypeOfContent } from '../../api/mimetype-of-content.ts'
import { formerName, isTypeDecidedByContent, mimetypeOfName } from '../../api/mimetype-of.ts'
import { isMimetype, type Mimetype } from '../../api/mimetypes.ts'
import type { ReadableContent } from '../../api/readable-content.ts'
import { kindOfUnsupported } from '../../api/unsupported-kind.ts'
import { ErrnoError } from '../../errno-error.ts'
import { nameMaxBytes } from '../../path.ts'
import { isTrashName, patchedName, typedName } from './scratch.ts'

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

/** Decides the mimetype a document is sent with (interface, "Document": 17 values). */
export class TypePolicy {
  readonly #fallback: Mimetype | undefined

  /** `unsupportedAs`: the mimetype for names of no known type. Throws EINVAL where the service does not take it either. */
  constructor(unsupportedAs: string | undefined) {
    if (unsupportedAs !== undefined && !isMimetype(unsupportedAs)) {
      throw new ErrnoError('EINVAL', `the service does not take ${unsupportedAs} (--unsupported-as)`)
    }
    this.#fallback = unsupportedAs
  }

  /**
   * Throws EOPNOTSUPP for a name whose type the service does not take: at create, not after the user waited for the copy.
   * `isBeside`: true for a name that is in the same folder.
   */
  check(name: string, isBeside: (name: string) => boolean): void {
    const typed = typedName(name)
    if (this.#fallback !== undefined || isTypeDecidedByContent(typed) || mimetypeOfName(typed) !== undefined)
      return
    // `plan.bak` is a document as `plan` is, beside it; elsewhere it may be anything.
    const former = formerName(typed)
    if (former !== undefined && isTypeDecidedByContent(former) && isBeside(former)) return
    throw this.#refusal(name)
  }

  /** `content`: read only where the name does not decide. */
  async mimetypeOf(name: string, content: ReadableContent): Promise<Mimetype> {
    const typed = typedName(patchedName(name) ?? name)
    const former = formerName(typed) ?? typed
    const mimetype =
      mimetypeOfName(typed) ??
      (isTypeDecidedByContent(former) ? await mimetypeOfContent(content) : undefined) ??
      this.#fallback
    if (mimetype === undefined) throw this.#refusal(name)
    return mimetype
  }

  #refusal(name: string): ErrnoError {
    const kind = kindOfUnsupported(typedName(name))
    return new ErrnoError(
      'EOPNOTSUPP',
      `${name}: the service takes no ${kind} (--unsupported-as MIMETYPE sends it as another type)`,
    )
  }
}
