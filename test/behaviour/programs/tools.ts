// sed, rsync, tar, unzip, vim and python.

import type { Scenario } from './scenario.ts'

const lines = (...of: string[]): string => of.map((line) => `${line}\n`).join('')
const twoToZwei = lines('--- a.txt', '+++ a.txt', '@@ -1,3 +1,3 @@', ' one', '-two', '+zwei', ' three')
const thousandLines = Array.from({ length: 1_000 }, (_, index) => `${index + 1}\n`).join('')

export const tools: readonly Scenario[] = [
  {
    title: 'sed -i edits in place by one replace',
    programs: ['sed'],
    given: { 'a.txt': 'the old word\n' },
    act: 'sed -i s/old/new/ "$1/a.txt"',
    after: { 'a.txt': 'the new word\n' },
    calls: { PUT: 1, DELETE: 1, apiAtMost: 3 },
  },
  {
    title: 'sed -i.bak edits in place, and keeps what was there as a document',
    programs: ['sed'],
    given: { 'a.txt': 'the old word\n', README: 'the old word\n' },
    act: 'sed -i.bak s/old/new/ "$1/a.txt" "$1/README"',
    after: {
      'a.txt': 'the new word\n',
      'a.txt.bak': 'the old word\n',
      README: 'the new word\n',
      'README.bak': 'the old word\n',
    },
  },
  {
    title: 'perl -pi edits in place by one replace',
    programs: ['perl'],
    given: { 'a.txt': 'the old word\n' },
    act: 'perl -pi -e s/old/new/ "$1/a.txt"',
    after: { 'a.txt': 'the new word\n' },
    calls: { PUT: 1, DELETE: 1, apiAtMost: 3 },
  },
  {
    title: 'perl -pi.bak edits in place, and keeps what was there as a document',
    programs: ['perl'],
    given: { 'a.txt': 'the old word\n' },
    act: 'perl -pi.bak -e s/old/new/ "$1/a.txt"',
    after: { 'a.txt': 'the new word\n', 'a.txt.bak': 'the old word\n' },
  },
  {
    title: 'patch changes a document by one replace',
    programs: ['patch'],
    given: { 'a.txt': lines('one', 'two', 'three') },
    act: `cd "$1"; TMPDIR="$2" patch -s -p0 <<'patch'\n${twoToZwei}patch`,
    after: { 'a.txt': lines('one', 'zwei', 'three') },
    calls: { PUT: 1, DELETE: 1, apiAtMost: 3 },
  },
  {
    title: 'patch makes a document, and deletes one',
    programs: ['patch'],
    given: { 'old.txt': lines('one') },
    act: `cd "$1"; TMPDIR="$2" patch -s -p0 <<'patch'
--- /dev/null
+++ new.txt
@@ -0,0 +1 @@
+one
--- old.txt
+++ /dev/null
@@ -1 +0,0 @@
-one
patch`,
    after: { 'new.txt': lines('one') },
  },
  {
    title: 'patch -b keeps what was there as a document',
    programs: ['patch'],
    given: { 'a.txt': lines('one', 'two', 'three') },
    act: `cd "$1"; TMPDIR="$2" patch -s -b -p0 <<'patch'\n${twoToZwei}patch`,
    after: { 'a.txt': lines('one', 'zwei', 'three'), 'a.txt.orig': lines('one', 'two', 'three') },
  },
  {
    title: 'patch keeps what it rejects as a document',
    programs: ['patch'],
    given: { 'a.txt': lines('eins', 'drei') },
    act: `cd "$1"; ! TMPDIR="$2" patch -s -p0 <<'patch'\n${twoToZwei}patch`,
    after: {
      'a.txt': lines('eins', 'drei'),
      'a.txt.orig': lines('eins', 'drei'),
      'a.txt.rej': twoToZwei,
    },
  },
  {
    title: 'rsync -a copies once, and the second time nothing',
    programs: ['rsync'],
    prepare:
      'mkdir -p "$2/in/deep"; seq 1000 > "$2/in/a.txt"; echo b > "$2/in/deep/b.csv"; touch -d "2001-02-03 04:05:06.5 UTC" "$2/in/a.txt"',
    act: 'rsync -a "$2/in/" "$1/"; rsync -a --itemize-changes "$2/in/" "$1/" | grep "^[<>]" || true',
    after: { 'a.txt': thousandLines, 'deep/b.csv': 'b\n' },
    says: '',
    calls: { PUT: 2, DELETE: 0 },
  },
  {
    title: 'seekdir goes back to the places telldir told, in a large folder whose names change',
    programs: ['python3'],
    act: `python3 -c '
import ctypes, os, random, struct, sys
libc = ctypes.CDLL(None)
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.telldir.restype = ctypes.c_long
libc.telldir.argtypes = libc.readdir.argtypes = libc.closedir.argtypes = [ctypes.c_void_p]
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
os.chdir(sys.argv[1])
for i in range(3000): os.mkdir("folder %d" % i)
folder = libc.opendir(b".")
def following():
    entry = libc.readdir(folder)
    return entry and ctypes.string_at(entry + 19)
told = []
while True:
    place = libc.telldir(folder)
    name = following()
    if not name: break
    told.append((place, name))
print(len(told))
random.seed(1)
def look(gone):
    wrong = 0
    for place, name in random.sample(told, 200):
        if name in gone: continue
        libc.seekdir(folder, place)
        wrong += following() != name
    print(wrong)
look(())
gone = [b"folder %d" % i for i in range(0, 3000, 7)]
for name in gone: os.rmdir(name)
for i in range(50): os.mkdir("new %d" % i)
look(gone)
for name in set(os.listdir(".")): os.rmdir(name)
libc.closedir(folder)
' "$1"`,
    after: {},
    says: '3002\n0\n0\n',
  },
  {
    title: 'what is written through a mapping of a document open for appending stays in its place',
    programs: ['python3'],
    given: { 'a.txt': '0123456789', 'b.txt': '0123456789' },
    act: `python3 -c '
import mmap, os, sys
os.chdir(sys.argv[1])
fd = os.open("a.txt", os.O_RDWR | os.O_APPEND)
mapped = mmap.mmap(fd, 0)
mapped[0:3] = b"abc"
mapped.flush()
os.write(fd, b"the end")
mapped[3:5] = b"de"
mapped.close()
os.close(fd)
one, two = os.open("b.txt", os.O_RDWR), os.open("b.txt", os.O_RDWR | os.O_APPEND)
ones, twos = mmap.mmap(one, 0), mmap.mmap(two, 0)
ones[0:3] = b"abc"
ones.flush()
os.close(one)
os.close(two)
' "$1"`,
    after: { 'a.txt': 'abcde56789the end', 'b.txt': 'abc3456789' },
  },
  {
    title:
      'a program that opens for appending and changes its mind writes where it says, and the other way round',
    programs: ['python3'],
    given: { 'a.txt': '0123456789', 'b.txt': '0123456789' },
    act: `python3 -c '
import fcntl, os, sys
os.chdir(sys.argv[1])
a = os.open("a.txt", os.O_RDWR | os.O_APPEND)
fcntl.fcntl(a, fcntl.F_SETFL, 0)
os.pwrite(a, b"abc", 0)
os.close(a)
b = os.open("b.txt", os.O_RDWR)
fcntl.fcntl(b, fcntl.F_SETFL, os.O_APPEND)
os.pwrite(b, b"the end", 0)
os.close(b)
' "$1"`,
    after: { 'a.txt': 'abc3456789', 'b.txt': '0123456789the end' },
  },
  {
    title: 'a document copied within the service is dated from its copy',
    programs: ['python3'],
    given: { 'a.txt': thousandLines },
    act: `python3 -c '
import os, sys, time
os.chdir(sys.argv[1])
a, b = open("a.txt", "rb"), open("b.txt", "wb")
before = os.fstat(b.fileno()).st_mtime_ns
time.sleep(0.05)
left = os.fstat(a.fileno()).st_size
while left > 0: left -= os.copy_file_range(a.fileno(), b.fileno(), left)
print(os.fstat(b.fileno()).st_mtime_ns > before)
b.close()
print(os.stat("b.txt").st_mtime_ns > before)
' "$1"`,
    after: { 'a.txt': thousandLines, 'b.txt': thousandLines },
    says: 'True\nTrue\n',
  },
  {
    title: 'a running Python finds a module that was not there a moment ago',
    programs: ['python3'],
    act: `python3 -B -c '
import sys
sys.path.insert(0, sys.argv[1])
try: import fresh
except ImportError: pass
open(sys.argv[1] + "/fresh.py", "w").write("word = 1")
import fresh
print(fresh.word)
' "$1"`,
    after: { 'fresh.py': 'word = 1' },
    says: '1\n',
  },
  {
    title: 'rsync -a replaces what changed',
    programs: ['rsync'],
    given: { 'a.txt': 'old', 'b.txt': 'the same' },
    prepare: 'mkdir "$2/in"; seq 1000 > "$2/in/a.txt"; cp -p "$1/b.txt" "$2/in/b.txt"',
    act: 'rsync -a "$2/in/" "$1/"',
    after: { 'a.txt': thousandLines, 'b.txt': 'the same' },
    calls: { PUT: 1, DELETE: 1 },
  },
  {
    title: 'rsync --inplace writes into the document itself',
    programs: ['rsync'],
    given: { 'a.txt': `${'x'.repeat(5_000)}\n` },
    prepare: 'mkdir "$2/in"; seq 1000 > "$2/in/a.txt"',
    act: 'rsync -a --inplace "$2/in/" "$1/"',
    after: { 'a.txt': thousandLines },
    calls: { PUT: 1, DELETE: 1 },
  },
  {
    title: 'rsync takes a folder out',
    programs: ['rsync'],
    given: { 'a.txt': 'a', 'deep/b.txt': 'b' },
    act: 'rsync -a "$1/" "$2/out/"; cat "$2/out/a.txt" "$2/out/deep/b.txt"',
    after: { 'a.txt': 'a', 'deep/b.txt': 'b' },
    says: 'ab',
    calls: { PUT: 0, DELETE: 0 },
  },
  {
    title: 'tar x unpacks an archive',
    programs: ['tar'],
    prepare:
      'mkdir -p "$2/in/deep"; seq 1000 > "$2/in/a.txt"; echo b > "$2/in/deep/b.csv"; tar cf "$2/in.tar" -C "$2/in" .',
    act: 'tar xf "$2/in.tar" -C "$1"; tar df "$2/in.tar" -C "$1" a.txt 2>&1 || true',
    after: { 'a.txt': thousandLines, 'deep/b.csv': 'b\n' },
    calls: { PUT: 2, DELETE: 0 },
  },
  {
    title: 'tar c reads a folder',
    programs: ['tar'],
    given: { 'a.txt': 'a', 'deep/b.txt': 'b' },
    act: 'tar cf "$2/out.tar" -C "$1" .; tar xOf "$2/out.tar" ./a.txt; tar xOf "$2/out.tar" ./deep/b.txt',
    after: { 'a.txt': 'a', 'deep/b.txt': 'b' },
    says: 'ab',
  },
  {
    title: 'unzip unpacks an archive',
    programs: ['zip', 'unzip'],
    prepare:
      'mkdir -p "$2/in/deep"; seq 1000 > "$2/in/a.txt"; echo b > "$2/in/deep/b.csv"; cd "$2/in"; zip -qr ../in.zip .',
    act: 'unzip -q "$2/in.zip" -d "$1"',
    after: { 'a.txt': thousandLines, 'deep/b.csv': 'b\n' },
    calls: { PUT: 2, DELETE: 0 },
  },
  {
    title: 'vim saves with a backup by rename, in one replace',
    programs: ['vim'],
    given: { 'a.txt': 'the old word\n' },
    act: 'vim -es -u NONE -i NONE -c "set writebackup backupskip= backupcopy=no fsync" -c "%s/old/new/" -c wq "$1/a.txt" < /dev/null',
    after: { 'a.txt': 'the new word\n' },
    calls: { PUT: 1, DELETE: 1, apiAtMost: 3 },
  },
  {
    title: 'vim saves into the document itself, with swap file',
    programs: ['vim'],
    given: { 'a.txt': 'the old word\n' },
    act: 'vim -es -N -u NONE -i NONE -c "set swapfile directory=. backupskip= backupcopy=yes" -c "%s/old/new/" -c wq "$1/a.txt" < /dev/null',
    after: { 'a.txt': 'the new word\n' },
    calls: { PUT: 1, DELETE: 1, apiAtMost: 3 },
  },
  {
    title: 'vim keeps its undo history beside the document, and undoes what an earlier run saved',
    programs: ['vim'],
    given: { 'a.txt': 'the old word\n' },
    act: `for change in '%s/old/new/' undo; do
  vim -es -N -u NONE -i NONE -c "set undofile undodir=. backupskip=" -c "$change" -c wq "$1/a.txt" < /dev/null || exit 1
done
rm "$1/.a.txt.un~"`,
    after: { 'a.txt': 'the old word\n' },
    calls: { PUT: 2, DELETE: 2 },
  },
  {
    title: 'python writes, appends and reads back',
    programs: ['python3'],
    act: `python3 - "$1" <<'python'
import sys
name = sys.argv[1] + "/a.txt"
with open(name, "w") as file:
    file.write("one\\n")
with open(name, "a") as file:
    file.write("two\\n")
with open(name) as file:
    sys.stdout.write(file.read())
python`,
    after: { 'a.txt': 'one\ntwo\n' },
    says: 'one\ntwo\n',
  },
  {
    title: 'python maps a document into memory and reads it',
    programs: ['python3'],
    given: { 'a.txt': thousandLines },
    act: `python3 - "$1" <<'python'
import hashlib, mmap, sys
with open(sys.argv[1] + "/a.txt", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
    print(hashlib.md5(mapped).hexdigest(), mapped[:4])
python`,
    after: { 'a.txt': thousandLines },
    says: "53d025127ae99ab79e8502aae2d9bea6 b'1\\n2\\n'\n",
    calls: { GET: 0, PUT: 0, DELETE: 0, download: 1 },
  },
  {
    title: 'python changes a document through shared memory',
    programs: ['python3'],
    given: { 'a.txt': 'the old word' },
    act: `python3 - "$1" <<'python'
import mmap, sys
with open(sys.argv[1] + "/a.txt", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
    mapped[4:7] = b"new"
    mapped.flush()
python`,
    after: { 'a.txt': 'the new word' },
  },
  {
    title: 'python writes in random order',
    programs: ['python3'],
    act: `python3 - "$1" <<'python'
import os, sys
file = os.open(sys.argv[1] + "/a.csv", os.O_CREAT | os.O_RDWR)
for index in (9, 3, 0, 7, 1, 8, 2, 5, 4, 6):
    os.pwrite(file, b"%04d\\n" % index, index * 5)
os.fsync(file)
os.close(file)
python`,
    after: { 'a.csv': '0000\n0001\n0002\n0003\n0004\n0005\n0006\n0007\n0008\n0009\n' },
  },
]
