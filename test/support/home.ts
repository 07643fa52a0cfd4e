// The home of somebody who runs docmount: state, cache and socket in a folder of the test. Never those of whoever runs the
// tests: their drives, and those of tests beside, are seen from there.

import { join } from 'node:path'

/** The environment with everything in `folder`; its `run` must be there, for its owner only. */
export function homeIn(folder: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: folder,
    XDG_RUNTIME_DIR: join(folder, 'run'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CACHE_HOME: join(folder, 'cache'),
  }
}

/** The same with nothing else of this machine but its programs, as for a person on their first day. */
export function bareHomeIn(folder: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: folder, XDG_RUNTIME_DIR: join(folder, 'run') }
}
