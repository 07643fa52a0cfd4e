// Exit codes of docmount. Scripts rely on them, so a number never gets another meaning.

export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** A drive in the foreground ended on request while changes were unsent. systemd does not start it again. */
  unsent: 3,
  /** EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
  temporary: 75,
} as const
