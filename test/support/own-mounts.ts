// A mount namespace of a test's own. It begins with a copy of every mount, also of the drives of tests that run beside it, and for as
// long as it lives those would not be let go of: their unmounts would say that they are detached.

/** The first lines of a script in it. */
export const ownMounts = `
mount --make-rprivate /
sed -nE 's/^([^ ]+ ){4}([^ ]+) .* - fuse[^ ]* .*/\\2/p' /proc/self/mountinfo | while read -r theirs; do
  timeout 5 umount --no-canonicalize --lazy "$(printf '%b' "$theirs")" >&2 || true
done
`
