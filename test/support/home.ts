// Environments with a home in a folder of the test, so that state, cache and sockets are separate from those of the test's user
// and of other tests.

import { join } from 'node:path'

/** Returns the current environment with its home in `folder`. `folder`/run must exist, with mode 0700. */
export function homeIn(folder: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: folder,
    XDG_RUNTIME_DIR: join(folder, 'run'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
  }
}

/** Returns an environment with only PATH and a home in `folder`, as for a new user. */
export function bareHomeIn(folder: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: join(folder, 'run') }
}
