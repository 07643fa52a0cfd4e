// The client's types: the interface's resources in camel case. The service's own field names (`modified_at`) stay inside
// `api/`. A field that the interface does not require is optional or `unknown`.

import type { Mimetype } from './mimetypes.ts'

/** interface, "Project". */
export interface Project {
  readonly id: string
  readonly name: string
  readonly createdAt: string | undefined
}

/** A file as the service described it (interface, "File"). Only `name` is always there. */
export interface RemoteFile {
  readonly kind: 'file'
  readonly name: string
  /** Bytes. */
  readonly size: number | undefined
  readonly mimetype: string | undefined
  /** The service's own text, compared and never parsed: with the size it identifies a version. */
  readonly modifiedAt: string | undefined
  /** Presigned download URL, valid for 15 minutes. A secret: never logged. */
  readonly url: string | undefined
}

export interface RemoteFolder {
  readonly kind: 'folder'
  readonly name: string
}

/** A folder with its direct children (interface, "Folder"). */
export interface FolderListing extends RemoteFolder {
  /** Children, each name once. */
  readonly entries: readonly (RemoteFile | RemoteFolder)[]
  /** Counts of entries that do not conform to the interface. */
  readonly odd: OddEntries
}

export interface OddEntries {
  /** Entries missing in `entries`: without a usable or unique name, or neither file nor folder. */
  readonly leftOut: number
  /** Entries with fields of the wrong type, which count as absent. */
  readonly repaired: number
}

/** Content that is sent with the upload. Read once per attempt, from the start. */
export interface BytesContent {
  readonly kind: 'bytes'
  /** Exact number of bytes `open` yields. */
  readonly size: number
  /** Returns a new stream of the whole content, in chunks of any size. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>
}

/** Content that the service fetches itself from a presigned URL (`file_type: "uri"`). */
export interface UriContent {
  readonly kind: 'uri'
  readonly url: string
  /** Path of the document that the URL leads to, where it is one of this project. Not sent. */
  readonly source?: string
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
    /** Base64 text, or a presigned URL. */
    readonly content: string
  }
}

/** interface, "Document (upload body)". */
export interface Upload {
  readonly mimetype: Mimetype
  readonly filename: string
  readonly content: BytesContent | UriContent | MultipartContent
}

/** An observer of a call, which is notified of its progress and can end it. */
export interface CallWatch {
  /** Bytes went out or came in. */
  onProgress(): void
  /** An attempt failed, and another will follow. */
  onFailure(error: unknown): void
  /**
   * Returns how many ms of the silence since `since` (monotonic clock, ms) count towards the deadline: fewer than all while the
   * call may wait behind our own uploads.
   */
  silentMs(since: number): number
  /** Ends the call at once when it aborts; the call rejects with its reason. */
  readonly signal: AbortSignal
}

/** Limits and observers of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly watch?: CallWatch | undefined
  /** True: this call and all later ones of the client use new connections, because the old ones may be dead. */
  readonly reconnect?: boolean | undefined
  /**
   * Milliseconds for the whole call, retries included. Uploads: milliseconds without progress (default 120 s). Downloads:
   * milliseconds for the whole range; default: no limit, but they end if no byte comes for the client's `deadlineMs`.
   */
  readonly deadlineMs?: number | undefined
  /** True: `deadlineMs` restarts with every piece of the response, so that a long listing is not cut off. */
  readonly isDeadlineForSilence?: boolean | undefined
  /** Most attempts. Default 4; 1: never retried. */
  readonly attempts?: number | undefined
}

/** A byte range of a download: `length` bytes from `offset`. */
export interface Range {
  readonly offset: number
  readonly length: number
  /** Size of the whole document, if known. A response without a size is checked against it. */
  readonly sizeBytes?: number
}

/** A ranged download whose headers have come. `chunks` is exactly the requested range, clipped to the end of the file. */
export interface Download {
  /** Size of the whole file, if the headers give it (Content-Range, or Content-Length of a 200). */
  readonly totalSize: number | undefined
  /** Strong or weak ETag, as sent. */
  readonly etag: string | undefined
  /**
   * Bytes. A connection is taken until they are read to their end, or the iterator's `return` is called. An empty chunk only
   * means progress. Throws NetworkError.
   */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The files of one project (interface, "/projects/{project_name}/files"). Paths are absolute: `/a/b.pdf`. */
export interface Files {
  readonly project: string
  /** Returns the file or folder at a path. Retried on temporary failures. Throws ApiError, NetworkError. */
  get(path: string, options?: CallOptions): Promise<RemoteFile | FolderListing>
  /**
   * Uploads to a path. Throws ApiError 409 if a file exists there. Retried only if nothing can have been stored (no connection,
   * 429); a 202 is an ApiError. `isOutcomeUnknown(error)` is true if the service may have stored it.
   */
  upload(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile>
  /**
   * Deletes the file at a path and uploads in its place: both requests are sent at once, in this order, on one connection. For
   * content that fits into memory. Rejects as `upload` does. Rejects with the delete's error if that failed and caused a 409 of
   * the upload, or if the delete was answered with 202. After any other error the file may be deleted or not.
   */
  replace(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile>
  /**
   * Deletes a file, or a folder with everything in it. Retried; a 404 after a retry counts as done. Rejects on a 202: the delete
   * may be carried out at any time (`isOnlyAccepted`). A retry may delete a file that another client stored since the first
   * attempt; to prevent that, use `attempts: 1` and check before each call.
   */
  delete(path: string, options?: CallOptions): Promise<void>
  /**
   * Reads from a presigned URL, on connections that never carry the key. `path` is only for messages. If the server ignores
   * Range, bytes before the range are skipped. Not retried: throws ApiError (403, 404, 410 for an expired URL), NetworkError.
   */
  download(url: string, path: string, range: Range, options?: CallOptions): Promise<Download>
}

/** A key, or a source that is read at first use and again after a 401, so that a rotated key is found. */
export type KeySource = string | { read(): Promise<string> }

/** Record of one HTTP attempt. `path` is the document's path, never a presigned URL. */
export interface RequestRecord {
  /** A call to the service, or a download by a presigned URL. */
  readonly kind: 'api' | 'download'
  readonly method: string
  readonly path: string
  /** Undefined if no response came. */
  readonly status: number | undefined
  readonly elapsedMs: number
  readonly attempt: number
  /** Length of the request's body if it has one, else of the response's; undefined if no header gave it. */
  readonly bytes: number | undefined
}
