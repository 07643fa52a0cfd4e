// A mount namespace of a test's own. It begins with a copy of every mount, also of the drives and disks of tests that run beside it,
// and for as long as it lives those would not be let go of: drives would say that they are detached, and a disk whose power was cut
// would not come back.

/** The first lines of a script in it. */
export const ownMounts = `
mount --make-rprivate /
sed -nE 's/^([^ ]+ ){4}([^ ]+) .* - (fuse[^ ]*|[^ ]+ \\/dev\\/loop[0-9]+) .*/\\2/p' /proc/self/mountinfo | while read -r theirs; do
  timeout 5 umount --no-canonicalize --lazy "$(printf '%b' "$theirs")" >&2 || true
done
`
