// A committer with its real neighbours: the service in this process, a client, a journal, a spool and a reader. Tells
// what the service has afterwards, and which calls one run made.

import { realWorld } from '../../../src/world/world.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../../src/api/client.ts'
import type { Files, RemoteFile } from '../../../src/api/types.ts'
import { Committer, type CommitterOptions } from '../../../src/content/commit/committer.ts'
import { fingerprintOf } from '../../../src/content/fingerprint.ts'
import {
  intend,
  type CarriedContent,
  type Intention,
  type IntentionDraft,
} from '../../../src/content/intention.ts'
import { LateFiles } from '../../../src/content/commit/late-files.ts'
import { createReader } from '../../../src/content/read/block-reader.ts'
import type { Reader } from '../../../src/content/read/reader.ts'
import { PresignedUrls } from '../../../src/content/read/presigned-urls.ts'
import { Journal } from '../../../src/content/spool/journal.ts'
import { Spool } from '../../../src/content/spool/spool.ts'
import { TypePolicy } from '../../../src/fs/tree/names.ts'
import { nameOf } from '../../../src/path.ts'
import { project, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import { serviceTexts } from '../../support/trees.ts'

type OtherOptions = Partial<Omit<CommitterOptions, 'files'>> & { readonly files?: Files }

export interface CommitterSetup {
  readonly files: Files
  committer(options?: OtherOptions): Committer
  /** Answers to the committer's questions, but where a run is given others. */
  readonly ask: CommitterOptions['ask']
  readonly spool: Spool
  readonly journal: Journal
  readonly reader: Reader
  /** Steps that the committer told, in order: `secure`, `preserve PATH`, `kept COPY`, `warn TEXT`. */
  readonly told: string[]
  /** A journaled intention. */
  intend(draft: IntentionDraft, known?: Partial<Intention>): Intention
  /** Content in the spool, as an intention carries it. */
  content(of: string | Uint8Array): Promise<CarriedContent>
  /** Damages the content in the spool: as many bytes, but others. */
  damage(content: CarriedContent): void
  /** The fingerprint of what the service has at a path. */
  seen(path: string): Promise<string>
  /** One run by a committer of its own. Rejects as it does; `calls` tells what it asked in any case. */
  run(intention: Intention, options?: OtherOptions): Promise<RemoteFile | undefined>
  /** Requests of the last run to the service: `PUT /a.txt`, `download /a.txt`. */
  readonly calls: readonly string[]
  /** Contents in the service, by path: folders are undefined. */
  held(): Promise<Record<string, string | undefined>>
  close(): Promise<void>
}

/** Empties the project first: a service of its own for every test would take most of the time. */
export async function setUpCommitter(testService: TestService): Promise<CommitterSetup> {
  const { other } = testService
  testService.service.faults.clear()
  for (const { name } of (await other.get('/'))?.entries ?? []) await other.delete(`/${name}`)
  const temporary = await makeTemporaryFolder()
  const client = createClient({ baseUrl: testService.baseUrl, apiKey: testService.apiKey })
  const files = client.files(project)
  const journal = new Journal(temporary.path, realWorld())
  const spool = new Spool(join(temporary.path, 'spool'), journal.contents, realWorld())
  const told: string[] = []
  const log = {
    debug() {},
    info() {},
    warn: (_: object, text: string) => void told.push(`warn ${text}`),
    error() {},
  }
  const world = realWorld()
  const urls = new PresignedUrls({ files, now: world.clock.steady })
  const reader = createReader({ files, urls, world, cacheDir: join(temporary.path, 'cache'), log })
  const types = new TypePolicy(undefined)
  let calls: string[] = []
  const options: Omit<CommitterOptions, 'files'> = {
    timers: world.clock,
    spool,
    reader,
    keepConflicts: true,
    hostName: 'desk',
    log,
    ask: {
      mimetypeOf: (path, content) => types.mimetypeOf(nameOf(path), content),
      preserve: async (path) => void told.push(`preserve ${path}`),
    },
    async secure() {
      told.push('secure')
      await journal.durable()
    },
    save: (intention) => journal.intentions.save(intention),
    say: (event) => void (event.kind === 'conflictKept' && told.push(`kept ${event.copy}`)),
  }
  const committer = (other?: OtherOptions): Committer =>
    new Committer({
      ...options,
      ...other,
      files: new LateFiles(other?.files ?? files, world.clock, journal.sentDeletes),
    })
  return {
    files,
    ask: options.ask,
    committer,
    spool,
    journal,
    reader,
    told,
    get calls() {
      return calls
    },
    intend(draft, known) {
      const intention = Object.assign(intend(journal.intentions.nextId(), draft, Date.now()), known)
      journal.intentions.save(intention)
      return intention
    },
    async content(of) {
      const file = spool.create('content')
      await file.write(0, Buffer.from(of as Uint8Array))
      await spool.secure(file)
      return { spool: file.id, size: file.size, digest: file.digest }
    },
    damage({ spool: id = '', size = 0 }) {
      writeFileSync(join(spool.dir, id), '!'.repeat(size))
    },
    async seen(path) {
      const found = await files.get(path)
      if (found.kind !== 'file') throw new Error(`${path} is no document`)
      return fingerprintOf(found)
    },
    async run(intention, other) {
      testService.service.clearCalls()
      told.length = 0
      try {
        return await committer(other).run(intention, new AbortController().signal)
      } finally {
        calls = testService.service.calls.map(
          ({ endpoint, method, path }) => `${endpoint === 'download' ? endpoint : method} ${path}`,
        )
      }
    },
    held: () => serviceTexts(other),
    async close() {
      await reader.close()
      await client.close()
      journal.close()
      await temporary.remove()
    },
  }
}
