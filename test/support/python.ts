// System calls that Node does not offer, made by python3.

import { isInstalled, run } from './run.ts'

/** Reason why they cannot be made here; undefined if they can. */
export const whyNoPython: string | undefined = isInstalled('python3') ? undefined : 'python3 is not installed'

const prelude = `
import ctypes, errno, fcntl, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    "The C function's result, or the name of its errno."
    result = getattr(libc, name)(*args)
    return errno.errorcode[ctypes.get_errno()] if result < 0 else result
def attempt(function, *args, **kwargs):
    "The Python function's result, or the name of its errno."
    try: return function(*args, **kwargs)
    except OSError as error: return errno.errorcode[error.errno]
at = sys.argv[1]
`

/** Runs a Python program, which can use `at` (= `path`), `call` and `attempt`. Returns the lines it printed. */
export async function python(program: string, path: string): Promise<string[]> {
  const { stdout } = await run('python3', ['-c', prelude + program, path])
  return stdout.trimEnd().split('\n')
}
