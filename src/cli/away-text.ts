// Message when a drive starts while the service cannot be reached.

/** Returns one line; `reason` is that of `docmount status`. */
export function awayText(reason: string): string {
  return `the service is away (${reason}): the drive shows what it last knew, and sends what you save when the service is back`
}
