// The logger's interface for every layer, so that none below `daemon/` depends on a logging package. pino's logger
// implements it. Callers never put keys or presigned URLs into `fields`.

/** A structured logger: `fields` for machines, `message` for people. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Discards everything: the default of every library entry point. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
