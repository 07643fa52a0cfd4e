// Message to somebody who mounts a drive whose service is away.

/** One line; `reason` as `docmount status` has it. */
export function olderListing(reason: string): string {
  return `the service is away (${reason}): the drive shows what it last knew, and sends what you save when the service is back`
}
