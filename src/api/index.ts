// The client alone, `docmount/api`: loads no native code.

export { createClient } from './client.ts'
export type { Client, ClientOptions } from './client.ts'
export { ApiError, ContentError, InputError, NetworkError, isOutcomeUnknown, isTemporary } from './errors.ts'
export type { CallDescription, NetworkErrorKind } from './errors.ts'
export { isTypeDecidedByContent, mimetypeOfName } from './mimetype-of.ts'
export { mimetypeOfContent } from './mimetype-of-content.ts'
export { isMimetype, mimetypes } from './mimetypes.ts'
export type { Mimetype } from './mimetypes.ts'
export type * from './table-types.ts'
export type * from './types.ts'
export { kindOfUnsupported } from './unsupported-kind.ts'
