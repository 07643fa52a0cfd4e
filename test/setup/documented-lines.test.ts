// Lines that README and the docs tell people to type, typed as they stand, in a copy of this machine, by an ordinary user with
// sudo.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentedLines } from '../support/documented-lines.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { copyMachine, whyNoMachineCopy, type MachineCopy } from '../support/machine-copy.ts'
import { isInstalled } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { stories } from './documented-stories.ts'

const limitMs = 130_000
const root = new URL('../..', import.meta.url).pathname

leaveOut(
  'the first use of a drive, WebDAV, fstab and the service, typed as documented in a copy of this machine',
)

test('what a story types is documented, as it stands', async () => {
  const documented = new Set((await documentedLines()).map(({ text }) => text))
  const typed = stories.flatMap(({ steps }) => steps.flatMap(({ line }) => line ?? []))
  expect(typed.filter((line) => !documented.has(line))).toEqual([])
})

/** Types answers behind their questions at a terminal: the line, then question and answer by turns. */
const person = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp('bash', ['bash', '-c', sys.argv[1]])
todo, said = sys.argv[2:], b''
while True:
    try: piece = os.read(terminal, 65536)
    except OSError: break
    if not piece: break
    said += piece
    if todo and todo[0].encode() in said:
        os.write(terminal, todo[1].encode() + b'\\r')
        todo, said = todo[2:], b''
    sys.stdout.buffer.write(piece); sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`

/** A user with sudo and no password, a home, and the program of this clone on the PATH. */
const newUser = `
id ann >/dev/null 2>&1 || useradd --create-home --shell /bin/bash ann
echo 'ann ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ann
echo user_allow_other >>/etc/fuse.conf
ln -sf ${root}dist/cli/main.js /usr/local/bin/docmount
cat >/usr/local/bin/answering <<'END OF PROGRAM'
${person}
END OF PROGRAM
install -d -m 700 -o ann -g ann /run/user/$(id -u ann)
echo "127.0.0.1 $(hostname) documents.example db.example service.example" >>/etc/hosts
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
  }, limitMs)
  afterAll(() => temporary?.remove())

  test.for(stories)('$title', { timeout: limitMs }, async ({ title, programs = [], steps }, context) => {
    if (whyNot !== undefined) return context.skip(whyNot)
    const missing = programs.filter((program) => !isInstalled(program))
    if (missing.length > 0) return context.skip(`${missing.join(', ')} missing`)
    const folder = join(temporary.path, title.replaceAll(/\W+/g, '-'))
    await mkdir(folder)
    const machine: MachineCopy = await copyMachine(folder)
    await machine.run(newUser + asUser(scriptOf(steps)), limitMs - 30_000)
  })
})

/** What a line said is in ~/said. */
function scriptOf(steps: (typeof stories)[number]['steps']): string {
  return `started=()\ncd ~\n${steps.map(typed).join('\n')}\n`
}

function typed({
  line,
  given,
  until,
  replaced = {},
  answers,
}: (typeof stories)[number]['steps'][number]): string {
  if (line === undefined) return given ?? ''
  const words = Object.entries(replaced).map(([word, variable]) => `line=\${line//${word}/$${variable}}`)
  const begin = `
line=$(cat <<'END OF LINE'
${line}
END OF LINE
)
echo "$ $line" >&2
${words.join('\n')}
cd ~`
  if (answers !== undefined) {
    const told = answers.flat().map((text) => JSON.stringify(text))
    return `${begin}\npython3 /usr/local/bin/answering "$line" ${told.join(' ')} | tee ~/said >&2`
  }
  // A program that goes on in the background may keep what it writes to: no pipe.
  if (until === undefined)
    return `${begin}\neval "$line" >~/said 2>&1 || { code=$?; cat ~/said >&2; exit $code; }`
  return `${begin}
(eval "exec $line") >~/said 2>&1 &
for _ in $(seq 600); do grep -qE '${until}' ~/said && break; sleep 0.1; done
grep -qE '${until}' ~/said || { cat ~/said >&2; exit 1; }`
}
