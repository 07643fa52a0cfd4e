/** Path of the built `docmount` command. */
export const cli: string = new URL('../../dist/cli/main.js', import.meta.url).pathname
