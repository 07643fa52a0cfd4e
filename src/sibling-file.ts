// Location of the program of a worker thread or process: beside the module that starts it.

/** Returns the URL of `name` beside the module `moduleUrl`: `.ts` if that is source, `.js` if it is compiled. */
export function siblingFile(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl)
}
