// The files of one project over HTTP (interface, "/projects/{project_name}/files"). Holds no state and no cache.

import type { Timers } from '../world/clock.ts'
import type { Caller } from './caller.ts'
import type { Downloader } from './download.ts'
import { encodePath, normalisePath, projectTarget } from './remote-path.ts'
import type { CallOptions, Files, RemoteFile, Upload } from './types.ts'
import { uploadBody } from './upload-body.ts'
import { fileFromWire, nodeFromWire } from './wire.ts'
import { nameOf } from '../path.ts'

/** Five times a listing of 100,000 entries with presigned URLs. */
const maxListingBytes = 256 * 1024 * 1024
const uploadDeadlineMs = 120_000

/** Returns the files of a project, without a request. Throws InputError for a name that no URL can contain. */
export function createFiles(project: string, call: Caller, download: Downloader, timers: Timers): Files {
  const files = projectTarget(project, '/files')
  const place = (path: string): { path: string; target: string } => {
    const normalised = normalisePath(path)
    return { path: normalised, target: `${files}?path=${encodePath(normalised)}` }
  }

  async function put(
    path: string,
    upload: Upload,
    options: CallOptions | undefined,
    isBehindDelete: boolean,
  ): Promise<RemoteFile> {
    const at = place(path)
    const description = { method: 'PUT', path: at.path }
    const answer = await call({
      ...at,
      method: 'PUT',
      body: uploadBody(description, upload),
      isBehindDelete,
      repeatable: 'if-not-stored',
      options,
      deadlineMs: uploadDeadlineMs,
      isDeadlineForProgress: true,
      isDoneAtOnce: true,
    })
    return fileFromWire(description, answer, nameOf(at.path))
  }

  return {
    project,

    async get(path, options) {
      const at = place(path)
      const answer = await call({
        ...at,
        method: 'GET',
        repeatable: 'freely',
        options,
        maxAnswerBytes: maxListingBytes,
      })
      return await nodeFromWire({ method: 'GET', path: at.path }, answer, nameOf(at.path), timers)
    },

    upload: (path, upload, options) => put(path, upload, options, false),

    replace: (path, upload, options) => put(path, upload, options, true),

    async delete(path, options) {
      await call({
        ...place(path),
        method: 'DELETE',
        repeatable: 'freely',
        options,
        isAnswerIgnored: true,
        isDoneAtOnce: true,
        // An earlier attempt deleted it, and its response was lost.
        isDone: (status, attempt) => status === 404 && attempt > 1,
      })
    },

    async download(url, path, range, options) {
      return await download(url, normalisePath(path), range, options)
    },
  }
}
