// Exit codes, for scripts. Numbers are never reused.

export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** A drive in the foreground ended as it was asked to, and something stays unsent. A unit does not start it again. */
  unsent: 3,
  /** EX_TEMPFAIL of sysexits.h: the same command may succeed later. */
  temporary: 75,
} as const
