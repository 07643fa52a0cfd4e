// True in a run that leaves nothing out. Also for the configuration, where there is no test to be skipped.

export const isThorough: boolean = process.env['DOCMOUNT_ALL'] === '1'
