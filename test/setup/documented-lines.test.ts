// Lines that README and the docs tell people to type, typed as they stand, in a copy of this machine, by an ordinary user with
// sudo.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentedLines, inOneRow, untypedLines } from '../support/documented-lines.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { copyMachine, whyNoMachineCopy, type MachineCopy } from '../support/machine-copy.ts'
import { isInstalled } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { scriptOf } from '../support/typed-story.ts'
import { stories, storiesOnDebian } from './documented-stories.ts'

const limitMs = 900_000
const root = new URL('../..', import.meta.url).pathname

leaveOut(
  'the documented lines, typed in a copy of this machine: first use, WebDAV, fstab, Samba, the service, PostgreSQL and S3',
)

describe('each documented line is typed by a story, or stands in the table of those that none types', () => {
  const typed = [...stories, ...storiesOnDebian].flatMap(({ steps }) =>
    steps.flatMap(({ line }) => (line === undefined ? [] : inOneRow(line))),
  )

  test('as it stands', async () => {
    const known = new Set([...typed, ...(await untypedLines())])
    expect((await documentedLines()).filter(({ text }) => !known.has(inOneRow(text)))).toEqual([])
  })

  test('stories and table name no other line, and none is in both', async () => {
    const documented = new Set((await documentedLines()).map(({ text }) => inOneRow(text)))
    const untyped = await untypedLines()
    expect([...typed, ...untyped].filter((line) => !documented.has(line))).toEqual([])
    expect(untyped.filter((line) => typed.includes(line))).toEqual([])
  })
})

/** A user with sudo and no password, a home, and the program of this clone on the PATH. */
const newUser = `
id ann >/dev/null 2>&1 || useradd --create-home --shell /bin/bash ann
echo 'ann ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ann
echo user_allow_other >>/etc/fuse.conf
ln -sf ${root}dist/cli/main.js /usr/local/bin/docmount
install -d -m 700 -o ann -g ann /run/user/$(id -u ann)
echo "127.0.0.1 $(hostname) documents.example db.example s3.example" >>/etc/hosts
`

const asUser = (script: string): string => `
cat >/tmp/story.sh <<'END OF STORY'
${script}
END OF STORY
runuser -u ann -- env -i HOME=/home/ann USER=ann LANG=C.UTF-8 XDG_RUNTIME_DIR=/run/user/$(id -u ann) \\
  PATH=/usr/local/bin:/usr/bin:/bin bash -euo pipefail /tmp/story.sh`

describe.runIf(isThorough && whyNoFuse() === undefined)('documented lines', () => {
  let temporary: TemporaryFolder
  let whyNot: string | undefined
  beforeAll(async () => {
    temporary = await makeTemporaryFolder()
    whyNot = await whyNoMachineCopy(join(temporary.path, 'tried'))
  })
  afterAll(() => temporary?.remove())

  test.for(stories)('$title', { timeout: limitMs }, async (story, context) => {
    const { title, programs = [] } = story
    if (whyNot !== undefined) return context.skip(whyNot)
    const missing = programs.filter((program) => !isInstalled(program))
    if (missing.length > 0) return context.skip(`${missing.join(', ')} missing`)
    const folder = join(temporary.path, title.replaceAll(/\W+/g, '-'))
    await mkdir(folder)
    const machine: MachineCopy = await copyMachine(folder)
    await machine.run(newUser + asUser(scriptOf(story)), limitMs - 30_000)
  })
})
