// Cleanup of a new mount namespace. It starts with copies of all mounts, also of the drives and disks of tests that run at the same
// time. These copies would keep them busy: an unmounted drive would count as detached, and a cut disk (cut-disk.ts) could not be
// mounted again.

/** First lines of a shell script in a new mount namespace: detach the copies of FUSE and loop mounts. */
export const ownMounts = `
mount --make-rprivate /
sed -nE 's/^([^ ]+ ){4}([^ ]+) .* - (fuse[^ ]*|[^ ]+ \\/dev\\/loop[0-9]+) .*/\\2/p' /proc/self/mountinfo | while read -r theirs; do
  timeout 5 umount --no-canonicalize --lazy "$(printf '%b' "$theirs")" >&2 || true
done
`
