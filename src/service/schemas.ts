// The resources of the API (interface, "Resources and their fields"): JSON Schemas that check requests and make the OpenAPI
// document, each beside its TypeScript type. Unknown fields are allowed: the interface may grow.

import { type Schema, Type } from './json-schema.ts'
import { type Mimetype, mimetypes } from '../api/mimetypes.ts'

export const dateTimeSchema: Schema = Type.String({ format: 'date-time' })
export const uuidSchema: Schema = Type.String({ format: 'uuid' })
/** A UUID without a prefix like `urn:uuid:`. This service writes lower case, and accepts both cases (RFC 9562, 4). */
export const uuidPattern: RegExp = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** interface, "Error". */
export interface ErrorBody {
  readonly errorMessage: string
}
export const errorSchema: Schema = Type.Object({ errorMessage: Type.String() }, { title: 'Error' })

/** interface, "Project". */
export interface ProjectBody {
  readonly id: string
  readonly name: string
  readonly created_at: string
}
export const projectSchema: Schema = Type.Object(
  { id: uuidSchema, name: Type.String(), created_at: dateTimeSchema },
  { title: 'Project' },
)

/** interface, "File". */
export interface FileBody {
  readonly ftype: 'file'
  readonly name: string
  readonly size: number
  readonly mimetype: string
  readonly modified_at: string
  readonly url: string
}
export const fileSchema: Schema = Type.Object(
  {
    ftype: Type.Literal('file'),
    name: Type.String(),
    size: Type.Optional(Type.Integer({ description: 'Size in bytes.' })),
    mimetype: Type.Optional(Type.String()),
    modified_at: Type.Optional(dateTimeSchema),
    url: Type.Optional(
      Type.String({ format: 'uri', description: 'Presigned download URL, valid 15 minutes.' }),
    ),
  },
  { title: 'File' },
)

/** A folder as a child of another. */
export interface FolderEntryBody {
  readonly ftype: 'folder'
  readonly name: string
}

/** interface, "Folder". */
export const folderSchema: Schema = Type.Object(
  {
    ftype: Type.Literal('folder'),
    name: Type.String(),
    entries: Type.Array(
      Type.Union([
        fileSchema,
        Type.Object({ ftype: Type.Literal('folder'), name: Type.String() }, { title: 'FolderEntry' }),
      ]),
      { description: 'Direct children, in the order of their names.' },
    ),
  },
  { title: 'Folder' },
)

/** The file in one part of a `multipart` document. */
export interface PartFileBody {
  readonly mimetype: string
  readonly file_type: 'uri' | 'binary'
  readonly content: string
}

/** interface, "Document (upload body)". */
export interface DocumentBody {
  readonly mimetype: Mimetype
  readonly filename: string
  readonly file_type: 'uri' | 'binary' | 'multipart'
  readonly file: string | readonly { readonly text?: string; readonly file?: PartFileBody }[]
  readonly zero_retention_mode?: boolean
}

const partSchema: Schema = Type.Object({
  text: Type.Optional(Type.String()),
  file: Type.Optional(
    Type.Object({
      // It becomes a header line of the stored document, so only printable characters are allowed.
      mimetype: Type.String({ pattern: '^[\\x20-\\x7e]+$' }),
      file_type: Type.Union([Type.Literal('uri'), Type.Literal('binary')]),
      content: Type.String({ description: 'Base64 text or signed URL.' }),
    }),
  ),
})

export const documentSchema: Schema = Type.Object(
  {
    mimetype: Type.Enum(mimetypes),
    filename: Type.String(),
    file_type: Type.Enum(['uri', 'binary', 'multipart']),
    file: {
      type: ['string', 'array'],
      items: partSchema,
      description: 'A signed URL (uri), base64 (binary) or an array of parts (multipart).',
    },
    zero_retention_mode: Type.Optional(Type.Boolean()),
  },
  { title: 'Document' },
)

export const projectParamsSchema: Schema = Type.Object({ project_name: Type.String() })
