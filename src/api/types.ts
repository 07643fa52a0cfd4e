// The objects the client hands out: the interface's resources in our own spelling. The wire's spelling
// (`modified_at`, `errorMessage`) stays inside `api/`. A field that the interface leaves open is optional or `unknown`.

import type { Mimetype } from './mimetypes.ts'

/** interface, "Project". */
export interface Project {
  readonly id: string
  readonly name: string
  readonly createdAt: string | undefined
}

/** A file as the service last described it (interface, "File"). Only `name` is certain. */
export interface RemoteFile {
  readonly kind: 'file'
  readonly name: string
  /** Bytes. */
  readonly size: number | undefined
  readonly mimetype: string | undefined
  /** The service's own text, compared as such: it is half of the fingerprint. */
  readonly modifiedAt: string | undefined
  /** Presigned, lives 15 minutes from the answer, never logged. */
  readonly url: string | undefined
}

export interface RemoteFolder {
  readonly kind: 'folder'
  readonly name: string
}

/** A folder with its direct children (interface, "Folder"). */
export interface FolderListing extends RemoteFolder {
  /** Each name once. */
  readonly entries: readonly (RemoteFile | RemoteFolder)[]
  /** Entries that are not what the interface says, and what became of them. */
  readonly odd: OddEntries
}

export interface OddEntries {
  /** Entries that cannot be named, or are of no known kind: not among `entries`. */
  readonly leftOut: number
  /** Fields of the wrong kind are as if they were absent. */
  readonly repaired: number
}

/** Content of an upload whose bytes are here. Read once per attempt, from the start. */
export interface BytesContent {
  readonly kind: 'bytes'
  /** Exact number of bytes `open` yields. */
  readonly size: number
  /** A fresh stream of the content. Chunks of any size; memory stays constant. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>
}

/** Content the service fetches itself from a signed URL (`file_type: "uri"`). */
export interface UriContent {
  readonly kind: 'uri'
  readonly url: string
}

/** Content made of parts (`file_type: "multipart"`). */
export interface MultipartContent {
  readonly kind: 'multipart'
  readonly parts: readonly UploadPart[]
}

export interface UploadPart {
  readonly text: string
  readonly file?: {
    readonly mimetype: string
    readonly file_type: 'uri' | 'binary'
    /** Base64 text or signed URL. */
    readonly content: string
  }
}

/** interface, "Document (upload body)". */
export interface Upload {
  readonly mimetype: Mimetype
  readonly filename: string
  readonly content: BytesContent | UriContent | MultipartContent
}

/** Somebody who follows a call from outside: told how it goes, and able to end it. */
export interface CallWatch {
  /** Bytes went out or came in. */
  onProgress(): void
  /** An attempt failed, and another will follow. */
  onFailure(error: unknown): void
  /** How much of the silence since then (ms, of the monotonic clock) is to be counted. */
  silentMs(since: number): number
  /** Aborted: the call ends at once with the signal's reason. */
  readonly signal: AbortSignal
}

/** How one call may be bounded. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly watch?: CallWatch | undefined
  /** Connections made before may be dead: this call, and every later one of the client, uses new ones. */
  readonly reconnect?: boolean | undefined
  /**
   * Milliseconds for the whole call, retries included. Uploads: milliseconds without progress (default 120 s). Downloads:
   * for the whole range; without it they end when no byte has come for the client's `deadlineMs`.
   */
  readonly deadlineMs?: number | undefined
  /** Of a question: every piece of its answer starts `deadlineMs` anew. */
  readonly isDeadlineForSilence?: boolean | undefined
  /** At most this many attempts (1 = never retried). */
  readonly attempts?: number | undefined
}

/** A byte range of a download: `length` bytes from `offset`. */
export interface Range {
  readonly offset: number
  readonly length: number
  /** Of the whole, where it is known: an answer that does not tell its own size is held against it. */
  readonly sizeBytes?: number
}

/** The head of a ranged download; `chunks` carries exactly the range asked for, clipped to the end of the file. */
export interface Download {
  /** Size of the whole file where the answer tells it (Content-Range, or Content-Length of a 200). */
  readonly totalSize: number | undefined
  /** Strong or weak ETag as sent. */
  readonly etag: string | undefined
  /**
   * Iterate it, or call its iterator's `return`: until then a connection is taken. An empty one says that bytes came which are not
   * wanted. Throws NetworkError.
   */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The files of one project (interface, "/projects/{project_name}/files"). Paths are absolute: `/a/b.pdf`. */
export interface Files {
  readonly project: string
  /** Resolves a path. Retried on temporary failures. Throws ApiError, NetworkError. */
  get(path: string, options?: CallOptions): Promise<RemoteFile | FolderListing>
  /**
   * Uploads to a path. Throws ApiError 409 when a file exists there. Sent once: retried only when nothing can have been
   * stored (no connection, 429); a 202 is an ApiError; `isOutcomeUnknown` says of an error whether the service may have stored it.
   */
  upload(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile>
  /**
   * Deletes the file at a path and uploads in its place: both requests go out at once, on one connection, in this order. For
   * content that fits into memory. Rejects as `upload` does; where the delete failed, and the upload was refused for that
   * (409), or is still to be carried out (202), with the delete's error. Any other failure says nothing of the delete.
   */
  replace(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile>
  /**
   * Deletes a file, or a folder with everything in it. Retried; a 404 after a retry counts as done, a 202 does not: it rejects with
   * that, and the delete may be carried out at any time (`isOnlyAccepted`). Each retry takes what stands
   * there by then, also what another client stored since: whoever must not looks before each (`attempts: 1`).
   */
  delete(path: string, options?: CallOptions): Promise<void>
  /**
   * Reads from a presigned URL with an agent that never carries the key. `path` is only for messages. A server that ignores
   * Range is handled by skipping. Not retried: throws ApiError (403, 404, 410 for an expired or refused URL), NetworkError.
   */
  download(url: string, path: string, range: Range, options?: CallOptions): Promise<Download>
}

/** A key, or where to read it: read again when the service answers 401, so that a rotated key is picked up. */
export type KeySource = string | { read(): Promise<string> }

/** Told of every finished HTTP attempt; `path` is the document's path, never a URL with a signature. */
export interface RequestRecord {
  /** A call to the service, or a download by a presigned URL. */
  readonly kind: 'api' | 'download'
  readonly method: string
  readonly path: string
  /** Undefined when no answer came. */
  readonly status: number | undefined
  readonly elapsedMs: number
  readonly attempt: number
  /** Of the body that was sent, otherwise of the answer's; undefined where nobody said. */
  readonly bytes: number | undefined
}
