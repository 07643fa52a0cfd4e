// Notices: news for a person who asked nothing.

/**
 * - `away`, `back`: the service is out of reach; it answers again.
 * - `bug`: an error that no code expected has ended the drive.
 * - `done`: everything that waited for the service, or was still to be sent when the drive was let go, is there.
 * - `keyRefused`: the service does not take the key any more; everything waits.
 * - `diskFull`: something could not be kept here.
 * - `sending`: the drive is let go, and `changes` are still on their way.
 * - `left`: it has ended, and `changes` are sent after the next mount.
 * - `refused`: the service said no to a change; it waits for the person.
 * - `unkept`: the disk of this machine did not take what was saved; it is tried again, and lost when the drive ends before that.
 * - `unsupported`: nothing could be saved at `path`: the service takes no `what`.
 * - `burst`: many changes of one kind; `sentence` tells of them.
 * - `conflict`: somebody else changed the document too; their version is kept as `copy`.
 * - `lost`: content that the journal does not know of is kept in lost+found.
 * - `untilLogin`: somebody unmounted a drive that systemd mounts at every login.
 * - `damaged`: something in the state folder was damaged; what was done about it, in a sentence.
 */
export type Notice =
  | { readonly kind: 'away' | 'back' | 'bug' | 'done' | 'diskFull' }
  | { readonly kind: 'keyRefused'; readonly reason: string }
  | { readonly kind: 'sending' | 'left'; readonly changes: number; readonly bytes: number }
  | { readonly kind: 'refused'; readonly path: string; readonly reason: string; readonly isKept: boolean }
  | { readonly kind: 'unkept'; readonly path: string; readonly reason: string }
  | { readonly kind: 'unsupported'; readonly path: string; readonly what: string }
  | { readonly kind: 'conflict'; readonly path: string; readonly copy: string }
  | { readonly kind: 'lost'; readonly path: string | undefined; readonly file: string }
  | { readonly kind: 'untilLogin'; readonly project: string }
  | { readonly kind: 'burst' | 'damaged'; readonly sentence: string }
