/** The command line as it is built. */
export const cli: string = new URL('../../dist/cli/main.js', import.meta.url).pathname
