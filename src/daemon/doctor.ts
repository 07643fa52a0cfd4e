// Results of `docmount doctor`: each check has a name, a finding, and a fix.

/**
 * - `good`: nothing to do.
 * - `note`: a drive works without it.
 * - `problem`: a drive does not work, or not well, until it is fixed.
 */
export type CheckResult = 'good' | 'note' | 'problem'

export interface Check {
  readonly name: string
  readonly result: CheckResult
  readonly finding: string
  /** The way to fix it; absent when there is nothing to fix. */
  readonly fix?: string
}

export function good(name: string, finding: string): Check {
  return { name, result: 'good', finding }
}

export function note(name: string, finding: string, fix: string): Check {
  return { name, result: 'note', finding, fix }
}

export function problem(name: string, finding: string, fix: string): Check {
  return { name, result: 'problem', finding, fix }
}
