// A program at a terminal of its own: what it draws there.

import { run } from './run.ts'

export interface Terminal {
  readonly code: number
  /** Everything written, escape sequences included. */
  readonly drawn: string
}

export interface TerminalOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly columns?: number
}

const person = `
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
while True:
    try: piece = os.read(terminal, 65536)
    except OSError: break
    if not piece: break
    sys.stdout.buffer.write(piece)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`

/** Runs a program at a terminal until it ends; needs python3. */
export async function atTerminal(
  program: string,
  args: readonly string[],
  { env = process.env, columns = 100 }: TerminalOptions = {},
): Promise<Terminal> {
  const ran = await run('python3', ['-c', person, `${columns}`, program, ...args], {
    env: { TERM: 'xterm', ...env },
    mayFail: true,
  })
  return { code: ran.code ?? -1, drawn: ran.stdout }
}
