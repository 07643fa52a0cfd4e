// True in a run of all tests (`scripts/test --all`). Without imports, because vitest's configuration imports it, too.

export const isThorough: boolean = process.env['DOCMOUNT_ALL'] === '1'
