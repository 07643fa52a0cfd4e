// Notices: events that the person is notified of on the desktop.

/**
 * - `away`, `back`: the service became unreachable; it is reachable again.
 * - `bug`: an unexpected error has ended the drive.
 * - `done`: all changes that waited for the service, or were unsent at the unmount, are stored.
 * - `keyRefused`: the service does not take the key any more; everything waits.
 * - `diskFull`: a change was refused because the disk of this machine is full.
 * - `sending`: the drive is being unmounted, and `changes` are still to be sent.
 * - `left`: the drive has ended, and `changes` are sent after the next mount.
 * - `refused`: the service refused a change, which waits for the person.
 * - `unkept`: the disk of this machine refused a saved document; it is tried again, and lost if the drive ends before.
 * - `unsupported`: nothing could be saved at `path`: the service takes no `what`.
 * - `burst`: many changes of one kind; `sentence` tells of them.
 * - `conflict`: somebody else changed the document too; their version is kept as `copy`.
 * - `lost`: content that the journal does not know of is kept in lost+found.
 * - `untilLogin`: a person unmounted a drive that systemd mounts at every login.
 * - `damaged`: a file of the state folder was damaged; `sentence` says what was done about it.
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
