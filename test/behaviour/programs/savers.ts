// Programs that save by a file of any name beside the document, and a rename over it. Each is one replace.

import { expect } from 'vitest'

import type { CallPromise } from '../../support/behind.ts'
import type { FolderDoor } from '../../support/folder-door.ts'
import { bash, isInstalled } from '../../support/run.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'
import type { Topic } from '../topic.ts'

interface Saving {
  readonly title: string
  /** Commands it needs, and Debian's python with PyQt5 where it says so. */
  readonly programs: readonly string[]
  /** Lines of bash that put the old documents into `$1` (a plain folder, which is then copied in). */
  readonly given: string
  /** Lines of bash: `$1` is the folder, `$2` a plain folder outside. */
  readonly act: string
  /** Standard output of `act`. */
  readonly says: string
  readonly documents: readonly string[]
  /** Files that stay on this machine, for a while at least. */
  readonly staysHere?: readonly string[]
  readonly calls?: CallPromise
}

const qt = '/usr/bin/python3 with PyQt5'
const hasQt = await bash('/usr/bin/python3 -c "import PyQt5.QtCore"', [], { mayFail: true }).then(
  ({ code }) => code === 0,
  () => false,
)

/** A PDF, a JPEG and a sound, as small as they get. */
const pdf = `/usr/bin/python3 - "$1/a.pdf" <<'python'
import sys
parts = [b"%PDF-1.4\\n"]
offsets = []
for number, body in enumerate([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"], 1):
    offsets.append(sum(map(len, parts)))
    parts.append(b"%d 0 obj%sendobj\\n" % (number, body))
start = sum(map(len, parts))
parts.append(b"xref\\n0 4\\n0000000000 65535 f \\n" + b"".join(b"%010d 00000 n \\n" % each for each in offsets))
parts.append(b"trailer<</Size 4/Root 1 0 R>>\\nstartxref\\n%d\\n%%%%EOF\\n" % start)
open(sys.argv[1], "wb").write(b"".join(parts))
python`
const jpeg =
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z'

const savings: readonly Saving[] = [
  {
    title: 'Qt: QSaveFile',
    programs: [qt],
    given: 'echo old > "$1/k.csv"',
    act: `/usr/bin/python3 - "$1" <<'python'
import sys
from PyQt5.QtCore import QIODevice, QSaveFile
for name in ("k.csv", "new.csv"):
    file = QSaveFile(sys.argv[1] + "/" + name)
    assert file.open(QIODevice.WriteOnly)
    file.write(b"a,b\\n1,2\\n")
    assert file.commit()
    print(open(sys.argv[1] + "/" + name).read().count(","))
python`,
    says: '2\n2\n',
    documents: ['k.csv', 'new.csv'],
    calls: { PUT: 2, DELETE: 1 },
  },
  {
    title: 'exiftool, and its copy of the original',
    programs: ['exiftool'],
    given: `base64 -d > "$1/photo.jpg" <<< ${jpeg}; cp "$1/photo.jpg" "$1/other.jpg"`,
    act: `exiftool -q -overwrite_original -Comment=hello "$1/photo.jpg"; exiftool -q -Comment=hello "$1/other.jpg"
exiftool -s3 -Comment "$1/photo.jpg"; exiftool -s3 -Comment "$1/other.jpg"`,
    says: 'hello\nhello\n',
    documents: ['photo.jpg', 'other.jpg'],
    staysHere: ['other.jpg_original'],
    calls: { PUT: 2, DELETE: 2 },
  },
  {
    title: 'qpdf --replace-input',
    programs: ['qpdf'],
    given: pdf,
    act: 'qpdf --replace-input --linearize "$1/a.pdf"; qpdf --check-linearization "$1/a.pdf" > "$2/said"; qpdf --show-npages "$1/a.pdf"',
    says: '1\n',
    documents: ['a.pdf'],
    calls: { PUT: 1, DELETE: 1 },
  },
  {
    title: 'vorbiscomment -w',
    programs: ['vorbiscomment', 'oggenc'],
    given: `head -c 20000 /dev/zero | oggenc -Q -r -o "$1/a.ogg" -`,
    act: 'vorbiscomment -w -t TITLE=hello "$1/a.ogg"; vorbiscomment "$1/a.ogg"',
    says: 'TITLE=hello\n',
    documents: ['a.ogg'],
    calls: { PUT: 1, DELETE: 1 },
  },
  {
    title: 'rsync --temp-dir, and rsync over a document without an ending',
    programs: ['rsync'],
    given: 'echo old > "$1/a.csv"; echo old > "$1/README"; mkdir "$1/tmp"; echo x > "$1/tmp/x.txt"',
    act: `mkdir "$2/in"; echo a,b > "$2/in/a.csv"; echo new > "$2/in/README"
rsync -aI --temp-dir="$1/tmp" "$2/in/a.csv" "$1/"; rsync -aI "$2/in/README" "$1/"; cat "$1/a.csv" "$1/README"`,
    says: 'a,b\nnew\n',
    documents: ['a.csv', 'README', 'tmp/x.txt'],
    calls: { PUT: 2, DELETE: 2 },
  },
  {
    title: 'logrotate with dates, and with numbers',
    programs: ['logrotate'],
    given: 'echo one > "$1/app.log"; echo one > "$1/other.log"; chmod 644 "$1"/*.log',
    act: `cat > "$2/rotate" <<rotate
"$1/app.log" {
  rotate 2
  dateext
  su $(id -un) $(id -gn)
  create
}
"$1/other.log" {
  rotate 2
  su $(id -un) $(id -gn)
  create
}
rotate
chmod 644 "$2/rotate"
logrotate --force --state "$2/state" "$2/rotate"
cat "$1"/app.log-* "$1/other.log.1" "$1/app.log"`,
    says: 'one\none\n',
    documents: ['app.log', 'other.log'],
    staysHere: ['app.log-DATE', 'other.log.1'],
  },
  {
    title: 'python: NamedTemporaryFile, with and without an ending, and os.replace',
    programs: ['python3'],
    given: 'echo old > "$1/a.csv"; echo old > "$1/b.csv"',
    act: `python3 - "$1" <<'python'
import os, sys, tempfile
for name, suffix in (("a.csv", ""), ("b.csv", ".csv")):
    with tempfile.NamedTemporaryFile("w", dir=sys.argv[1], suffix=suffix, delete=False) as file:
        file.write("a,b\\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, sys.argv[1] + "/" + name)
    print(open(sys.argv[1] + "/" + name).read(), end="")
python`,
    says: 'a,b\na,b\n',
    documents: ['a.csv', 'b.csv'],
    calls: { PUT: 2, DELETE: 2 },
  },
  {
    title: 'sed -i.save, whose ending nobody knows',
    programs: ['sed'],
    given: 'echo old > "$1/a.txt"',
    act: 'sed -i.save s/old/new/ "$1/a.txt"; cat "$1/a.txt" "$1/a.txt.save"',
    says: 'new\nold\n',
    documents: ['a.txt'],
    staysHere: ['a.txt.save'],
    calls: { PUT: 1, DELETE: 1 },
  },
]

/** Under CI nothing is left out. */
const missing = (program: string): boolean => (program === qt ? !hasQt : !isInstalled(program))

export const savers: Topic<FolderDoor> = (it) => {
  for (const { title, programs, given, act, says, documents, staysHere = [], calls } of savings) {
    const absent = programs.filter(missing)
    if (absent.length > 0 && process.env['CI'] === undefined) {
      it.skip(`${title} (not installed: ${absent.join(', ')})`)
      continue
    }
    it(title, async (test) => {
      const { door, folder } = test
      const material = await makeTemporaryFolder(door.user)
      try {
        const places = [door.root + folder, material.path]
        await bash(`mkdir "$1/given"; set -- "$1/given"; ${given}`, [material.path], { user: door.user })
        await bash('cp -r "$2/given/." "$1/"; rm -r "$2/given"', places, { user: door.user })
        await door.behind.check(folder, new Set())
        await door.readdir(folder)
        door.behind.clearCalls()
        const { stdout } = await bash(act, places, { user: door.user })
        expect(stdout).toBe(says)
        const look = 'cd "$1"; find . -type f | cut -c3- | sort'
        const shown = (await bash(look, places, { user: door.user })).stdout.trim().split('\n')
        const dated = shown.map((name) => name.replace(/\d{8}$/, 'DATE'))
        expect(dated.toSorted()).toEqual([...documents, ...staysHere].toSorted())
        for (const name of shown) if (!documents.includes(name)) test.staysHere(name)
        door.behind.expectUploads(folder, documents)
        if (calls !== undefined) door.behind.expectCalls(folder, calls)
      } finally {
        await material.remove()
      }
    })
  }
}
