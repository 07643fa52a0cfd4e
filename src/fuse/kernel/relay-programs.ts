// The programs that hold /dev/fuse for us where koffi is not installed. Both do the same: mount through fusermount3,
// receive its descriptor, say one byte on descriptor 4, then pass requests to descriptor 3 and answers from it, and
// notifications from descriptor 4, each acknowledged by a byte. Notifications have a thread or process of their own,
// since the kernel may let them wait. They end with the mount, or when we do, and not by a signal to our whole group.

import { receiveBytes } from './channel.ts'

const python = `
import array, errno, os, signal, socket, subprocess, sys, threading
for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(name, signal.SIG_IGN)
ours, theirs = socket.socketpair()
env = dict(os.environ, _FUSE_COMMFD=str(theirs.fileno()))
if subprocess.run(['fusermount3'] + sys.argv[1:], pass_fds=[theirs.fileno()], env=env).returncode: sys.exit(1)
fuse = array.array('i', ours.recvmsg(1, socket.CMSG_LEN(4))[1][0][2])[0]
ours.close(); theirs.close()
os.write(4, b'm')

def exactly(fd, count):
    parts = []
    while count:
        part = os.read(fd, min(count, 1 << 20))
        if not part: os._exit(0)
        parts.append(part); count -= len(part)
    return b''.join(parts)

def pass_on(fd, acknowledges):
    try:
        while True:
            head = exactly(fd, 4)
            message = head + exactly(fd, int.from_bytes(head, sys.byteorder) - 4)
            try: os.write(fuse, message)
            except OSError: pass
            if acknowledges: os.write(fd, b'a')
    except OSError: os._exit(0)

threading.Thread(target=pass_on, args=(3, False), daemon=True).start()
threading.Thread(target=pass_on, args=(4, True), daemon=True).start()
request = memoryview(bytearray(${receiveBytes}))
while True:
    try: length = os.readv(fuse, [request])
    except OSError as error:
        if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT): continue
        os._exit(0)
    at = 0
    try:
        while at < length: at += os.write(3, request[at:length])
    except OSError: os._exit(0)
`

const perl = `
use strict; use Socket; use Fcntl; use POSIX ();
$SIG{INT} = $SIG{TERM} = $SIG{HUP} = 'IGNORE';
my ($machine) = (POSIX::uname())[4];
my $recvmsg = { x86_64 => 47, aarch64 => 212, riscv64 => 212 }->{$machine} or die "no recvmsg known for $machine\\n";
socketpair(my $ours, my $theirs, AF_UNIX, SOCK_STREAM, 0) or die "socketpair: $!\\n";
my $mount = fork;
if (!$mount) {
  fcntl($theirs, F_SETFD, 0);
  $ENV{_FUSE_COMMFD} = fileno $theirs;
  exec 'fusermount3', @ARGV;
  die "fusermount3 is missing: install the package fuse3\\n";
}
waitpid $mount, 0;
exit 1 if $?;
my ($byte, $control) = ("\\0", "\\0" x 24);
my $iov = pack 'J J', unpack('J', pack 'p', $byte), 1;
my $message = pack 'J L x4 J J J J i x4', 0, 0, unpack('J', pack 'p', $iov), 1, unpack('J', pack 'p', $control), 24, 0;
syscall($recvmsg, fileno $ours, $message, 0x40000000) == 1 or die "recvmsg: $!\\n";
my $fd = unpack 'x16 i', $control;
open my $fuse, '+<&=', $fd or die "fdopen: $!\\n";
open my $requests, '+<&=', 3 or die "fdopen: $!\\n";
open my $notifications, '+<&=', 4 or die "fdopen: $!\\n";
close $ours; close $theirs;
syswrite $notifications, 'm';

sub exactly {
  my ($file, $count) = @_;
  my $bytes = '';
  while ($count > length $bytes) {
    my $got = sysread $file, $bytes, $count - length $bytes, length $bytes;
    next if !defined $got && $!{EINTR};
    return undef unless $got;
  }
  return $bytes;
}
sub pass_on {
  my ($file) = @_;
  my $head = exactly($file, 4) // return 0;
  my $rest = exactly($file, unpack('L', $head) - 4) // return 0;
  syswrite $fuse, $head . $rest;
  return 1;
}

my $notifier = fork;
if (!$notifier) {
  close $requests;
  while (pass_on($notifications)) { syswrite $notifications, 'a' }
  POSIX::_exit(0);
}
close $notifications;
fcntl($fuse, F_SETFL, O_RDWR | O_NONBLOCK);
my $isOpen = 1;
while ($isOpen) {
  my $ready = '';
  vec($ready, fileno $fuse, 1) = 1;
  vec($ready, 3, 1) = 1;
  next if select($ready, undef, undef, undef) < 0;
  if (vec($ready, 3, 1)) { pass_on($requests) or last }
  if (vec($ready, fileno $fuse, 1)) {
    my $length = sysread $fuse, my $request, ${receiveBytes};
    if (!defined $length) {
      next if $!{EINTR} || $!{EAGAIN} || $!{ENOENT};
      last;
    }
    for (my $at = 0; $at < $length; ) {
      my $sent = syswrite $requests, $request, $length - $at, $at;
      next if !defined $sent && $!{EINTR};
      if (!$sent) { $isOpen = 0; last }
      $at += $sent;
    }
  }
}
kill 'KILL', $notifier;
POSIX::_exit(0);
`

export interface RelayProgram {
  readonly program: string
  readonly args: readonly string[]
}

/** Best first. fusermount3's arguments follow. */
export const relayPrograms: readonly RelayProgram[] = [
  { program: 'python3', args: ['-c', python] },
  { program: 'perl', args: ['-e', perl, '--'] },
]
