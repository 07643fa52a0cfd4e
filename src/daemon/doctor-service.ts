// The service's half of `docmount doctor`. Facts that the client hides (the answer's date, the status of a Range request) are
// read by bare requests. The key goes to the service alone, never to a presigned URL or along a redirect.

import { createClient } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { Files, KeySource, RemoteFile } from '../api/types.ts'
import { type Check, good, note, problem } from './doctor.ts'
import { findRoot } from './find-root.ts'
import { probe } from './probe.ts'
import { splitUrl } from '../api/download.ts'
import { follow } from '../api/redirects.ts'
import { redact } from '../redact.ts'
import { pathBelow } from '../path.ts'
import { type NetworkSettings, systemNetwork } from '../world/network.ts'
import { proxiesOf } from '../world/proxy.ts'
import type { Transport } from '../world/transport.ts'

/** Timeout of each request. */
const answerWithinMs = 10_000
const tolerableSkewMs = 60_000
/** Most folders that are listed in search of a document to download from. */
const maxFolders = 20

/** Checks service, clock, key, downloads, and if the key sees `project`. Throws SettingError for bad network settings. */
export async function checkService(
  baseUrl: string,
  { key, network = {} }: { readonly key: KeySource | undefined; readonly network?: NetworkSettings },
  project?: string,
): Promise<readonly Check[]> {
  const proxy = checkProxy(baseUrl, network)
  const transport = systemNetwork.open(1, network)
  try {
    const reached = await reach(baseUrl, transport)
    if (reached.date === undefined) return [...proxy, reached.check]
    const asked = await checkKey(baseUrl, { key, network, transport }, project)
    return [...proxy, reached.check, checkClock(reached.date), ...asked]
  } finally {
    await transport.close()
  }
}

/** Returns no check if no proxy is set. */
function checkProxy(baseUrl: string, { proxy: set }: NetworkSettings): readonly Check[] {
  const proxy = URL.canParse(baseUrl) ? proxiesOf(set)(new URL(baseUrl).origin) : undefined
  return proxy === undefined ? [] : [good('proxy', `the service is asked through ${proxy.name}`)]
}

async function checkKey(
  baseUrl: string,
  {
    key,
    network,
    transport,
  }: {
    readonly key: KeySource | undefined
    readonly network: NetworkSettings
    readonly transport: Transport
  },
  project: string | undefined,
): Promise<readonly Check[]> {
  const checks: Check[] = []
  if (key === undefined) {
    return [
      problem(
        'API key',
        'none is configured',
        'run docmount login, or set DOCMOUNT_API_KEY_FILE or DOCMOUNT_API_KEY',
      ),
    ]
  }
  const client = createClient({ baseUrl, apiKey: key, network, deadlineMs: answerWithinMs })
  try {
    const names = (await client.projects({ attempts: 1 })).map(({ name }) => name)
    checks.push(
      good('API key', names.length === 0 ? 'is accepted' : `is accepted; it sees ${names.join(', ')}`),
    )
    if (project !== undefined) checks.push(checkProject(project, names))
    const [tried] = project !== undefined && names.includes(project) ? [project] : names
    if (tried !== undefined) checks.push(await checkRange(client.files(tried), transport).catch(noDownload))
  } catch (error) {
    const root = isKeyRefusal(error) ? undefined : await findRoot(baseUrl, { key, network })
    checks.push(
      root === undefined
        ? describeKeyFailure(error)
        : problem('base URL', `${baseUrl} is not the service's root; ${root} is`, `use --base-url ${root}`),
    )
  } finally {
    await client.close()
  }
  return checks
}

/** Any answer counts, even a refusal: it comes from the service. `date`: undefined without an answer, invalid if it has none. */
async function reach(
  baseUrl: string,
  transport: Transport,
): Promise<{ check: Check; date: Date | undefined }> {
  try {
    const { date } = await probe(transport, `${baseUrl.replace(/\/+$/, '')}/projects`, {}, answerWithinMs)
    return { check: good('service', `${baseUrl} answers`), date: new Date(date ?? Number.NaN) }
  } catch (error) {
    const why = (error as Error).message.replace(/^GET \S+: (no connection: )?/, '')
    return {
      check: problem('service', `${baseUrl} does not answer: ${why}`, 'check --base-url and the network'),
      date: undefined,
    }
  }
}

function checkClock(date: Date): Check {
  if (Number.isNaN(date.getTime())) return note('clock', 'the service sends no date', 'nothing to do')
  const skewMs = Date.now() - date.getTime()
  const finding = `differs from the service's by ${(Math.abs(skewMs) / 1000).toFixed(0)} s`
  if (Math.abs(skewMs) <= tolerableSkewMs) return good('clock', finding)
  return problem('clock', finding, 'set the clock of this machine: timedatectl set-ntp true')
}

async function checkRange(files: Files, transport: Transport): Promise<Check> {
  const file = await findSomeFile(files)
  if (file?.url === undefined)
    return note('Range', 'no document to try a download with', 'upload one, and run docmount doctor again')
  const call = { method: 'GET', path: file.name }
  const { answer } = await follow(call, splitUrl(call, file.url), (place) =>
    transport.download({
      call,
      method: 'GET',
      ...place,
      headers: { range: 'bytes=0-0' },
      signal: AbortSignal.timeout(answerWithinMs),
    }),
  )
  answer.discard()
  const { status } = answer
  if (status === 206) return good('Range', 'downloads honour it')
  if (status === 200) {
    const finding = 'downloads ignore it: reading the end of a document fetches all of it'
    return problem('Range', finding, "ask the service's owner")
  }
  return problem('Range', `a download was answered with ${status}`, "ask the service's owner")
}

function noDownload(error: unknown): Check {
  return problem(
    'Range',
    `no download could be tried: ${(error as Error).message}`,
    "ask the service's owner",
  )
}

/** Resolves with some document of more than one byte; searches breadth first. */
async function findSomeFile(files: Files): Promise<RemoteFile | undefined> {
  const folders = ['/']
  for (let listed = 0; listed < maxFolders; listed += 1) {
    const folder = folders.shift()
    if (folder === undefined) return undefined
    const listing = await files.get(folder)
    if (listing.kind === 'file') return listing
    for (const entry of listing.entries) {
      if (entry.kind === 'folder') folders.push(pathBelow(folder, entry.name))
      else if (entry.url !== undefined && (entry.size ?? 0) > 1) return entry
    }
  }
  return undefined
}

function checkProject(project: string, names: readonly string[]): Check {
  if (names.includes(project)) return good('project', `the key sees ${project}`)
  const seen = names.length === 0 ? 'it sees none' : `it sees ${names.join(', ')}`
  return problem('project', `the key does not see ${project}; ${seen}`, 'check its name and its key')
}

function isKeyRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 401 || error.status === 403)
}

function describeKeyFailure(error: unknown): Check {
  if (isKeyRefusal(error)) {
    return problem(
      'API key',
      `is refused (${error.status} ${error.errorMessage})`,
      'make a new key in the settings of the project',
    )
  }
  return problem(
    'API key',
    redact((error as Error).message),
    'fix this first, then run docmount doctor again',
  )
}
