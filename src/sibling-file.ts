// Where a thread's program is: beside the module that starts it, compiled or not as that one is.

/** The URL of `name` in the folder of `moduleUrl`, with the same extension. */
export function siblingFile(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl)
}
