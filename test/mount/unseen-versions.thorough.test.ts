// Real programs save over a version of another client's that nobody here has seen, or that some of them have: which of them the
// kernel's driver tells apart.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive, type MountedDrive, type MountedDriveOptions } from '../support/mounted.ts'
import { bash } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Each gets the document in `$f`, and leaves "ours" in it. */
const blind: Readonly<Record<string, string>> = {
  '>': 'echo ours > "$f"',
  cp: 'echo ours > "$TMPDIR/ours.txt"; cp "$TMPDIR/ours.txt" "$f"',
  'cp --remove-destination':
    'echo ours > "$TMPDIR/ours.txt"; cp --remove-destination "$TMPDIR/ours.txt" "$f"',
  'mv over': 'echo ours > "$d/.goutputstream-ABC123"; mv "$d/.goutputstream-ABC123" "$f"',
  'dd in place': 'printf "ours\\n" | dd of="$f" conv=notrunc status=none; truncate -s 5 "$f"',
  'rm, then >': 'rm "$f"; echo ours > "$f"',
}
/** Each reads what is there before. */
const reading: Readonly<Record<string, string>> = {
  'sed -i': 'sed -i "s/.*/ours/" "$f"',
  'sed -i twice': 'sed -i "s/.*/x/" "$f"; sed -i "s/.*/ours/" "$f"',
  'perl -pi': 'perl -pi -e "s/.*/ours/" "$f"',
  vim: 'vim -Nu NONE -es -c "%s/.*/ours/" -c wq "$f"',
}

describe.skipIf(whyNoFuse() !== undefined)('real programs at a kernel mount', () => {
  let temporary: TemporaryFolder
  let testService: TestService
  let drive: MountedDrive
  let folder = ''
  let count = 0

  // As long as the kernel believes what it was told: what is old here is asked for anew.
  const how = (): MountedDriveOptions => ({
    testService,
    driver: 'kernel',
    folder: temporary.path,
    args: ['--cache-ttl', '1s'],
  })

  beforeAll(async () => {
    temporary = await makeTemporaryFolder()
    testService = await startTestService()
    drive = await mountDrive(how())
  })

  beforeEach(async () => {
    folder = `/unseen-${++count}`
    await testService.other.put(`${folder}/f.txt`, 'first\n')
    await waitUntil('the folder to show', async () => (await ran('ls -d "$d" || true')) !== '')
  })

  afterAll(async () => {
    await drive?.end()
    await testService?.close()
    await temporary?.remove()
  })

  const ran = async (line: string): Promise<string> => {
    const at = join(drive.mountpoint, folder)
    const begin = 'd=$1 f=$1/f.txt TMPDIR=$2; '
    return (await bash(begin + line, [at, temporary.path])).stdout
  }

  /** Another client stores its version, and what was listed before is old. */
  async function theirsComes(): Promise<void> {
    await testService.other.put(`${folder}/f.txt`, 'theirs, longer\n')
    await testService.other.put(`${folder}/beacon.txt`, 'x')
    await waitUntil('the folder to be listed anew', async () => (await ran('ls "$d"')).includes('beacon.txt'))
  }

  async function expectHeld(document: string, ...beside: string[]): Promise<void> {
    const held = await waitUntil('the document', async () => {
      const documents = await testService.other.documents(folder)
      return documents?.get('f.txt')?.toString() === document && documents
    })
    await drive.docmount(['wait', join(drive.mountpoint, folder)])
    const copies = [...held]
      .filter(([name]) => name.includes('(conflict'))
      .map(([, bytes]) => bytes.toString())
    expect(copies).toEqual(beside)
  }

  for (const [name, line] of Object.entries(blind)) {
    test(`${name} keeps what came since somebody read the document`, async () => {
      expect(await ran('cat "$f"')).toBe('first\n')
      await theirsComes()
      await ran(line)
      await expectHeld('ours\n', 'theirs, longer\n')
    })

    test(`${name} replaces what cat has just read`, async () => {
      expect(await ran('cat "$f"')).toBe('first\n')
      await theirsComes()
      expect(await ran('cat "$f"')).toBe('theirs, longer\n')
      await ran(line)
      await expectHeld('ours\n')
    })

    test(`${name} replaces what ls has just shown, where nobody has read anything`, async () => {
      await theirsComes()
      await ran('ls -l "$d"')
      await ran(line)
      await expectHeld('ours\n')
    })
  }

  for (const [name, line] of Object.entries(reading)) {
    test(`${name}, which reads before it saves, makes no copy`, async () => {
      expect(await ran('cat "$f"')).toBe('first\n')
      await theirsComes()
      await ran(line)
      await expectHeld('ours\n')
    })
  }

  test('one person who works alone, with all of these programs and over restarts, gets no copies', async () => {
    await ran('cat "$f"')
    const others = [
      'echo ours >> "$f"',
      'sort -o "$f" "$f"',
      'cp "$f" "$f.bak"; echo ours > "$f"; mv "$f.bak" "$f"',
      'rsync -a "$f" "$d/g.txt"; rsync -a --inplace "$d/g.txt" "$f"; rm "$d/g.txt"',
      'mv "$f" "$d/h.txt"; echo ours > "$f"; rm "$d/h.txt"',
      'mkdir "$d/s"; mv "$f" "$d/s"; mv "$d/s/f.txt" "$d"; rmdir "$d/s"; echo ours > "$f"',
    ]
    const lines = [...Object.values(blind), ...Object.values(reading), ...others]
    for (let mounts = 1; mounts <= 3; mounts++) {
      for (let round = 1; round <= 2; round++) for (const line of lines) await ran(line)
      await drive.docmount(['wait', join(drive.mountpoint, folder)])
      await drive.unmount()
      drive = await mountDrive(how())
      // The other way round, as soon as it is there.
      for (const line of lines.toReversed()) await ran(line)
    }
    await drive.docmount(['wait', join(drive.mountpoint, folder)])
    const held = await waitUntil('the folder', () => testService.other.documents(folder))
    expect([...held.keys()]).toEqual(['f.txt'])
  })

  test('a program that has the older version open in an editor keeps what others have read since', async () => {
    const editor = startEditor(join(drive.mountpoint, folder, 'f.txt'))
    try {
      await waitUntil('it to have read', () => editor.hasRead())
      await theirsComes()
      expect(await ran('cat "$f"; cat "$f"')).toBe('theirs, longer\ntheirs, longer\n')
      editor.process.stdin?.end('ours\n')
      await once(editor.process, 'exit')
      await expectHeld('ours\n', 'theirs, longer\n')
    } finally {
      editor.process.kill()
    }
  })
})

/** Reads the document, and saves over it what it is given, when it is given that. */
function startEditor(path: string): { readonly process: ChildProcess; readonly hasRead: () => boolean } {
  const script = `const fs = require('node:fs')
    fs.readFileSync(process.argv[1])
    console.log('read')
    fs.writeFileSync(process.argv[1], fs.readFileSync(0))`
  const child = spawn(process.execPath, ['-e', script, path], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout?.on('data', (text: Buffer) => void (said += text.toString()))
  return { process: child, hasRead: () => said.includes('read') }
}
