export type Mutant = readonly [
  name: string,
  file: string,
  from: string | RegExp,
  to: string,
  ...more: (string | RegExp)[],
]
export const fixes: readonly Mutant[]
export const mutants: readonly Mutant[]
