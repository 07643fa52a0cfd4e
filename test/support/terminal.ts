// Runs a program at a pseudo-terminal.

import { run } from './run.ts'

export interface Terminal {
  readonly code: number
  /** All output, with escape sequences. */
  readonly drawn: string
}

export interface TerminalOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly columns?: number
}

/** Python program that runs a command at a new pseudo-terminal, and copies its output. */
const ptyProgram = `
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

/** Runs a program at a pseudo-terminal until it ends. Needs python3. */
export async function atTerminal(
  program: string,
  args: readonly string[],
  { env = process.env, columns = 100 }: TerminalOptions = {},
): Promise<Terminal> {
  const ran = await run('python3', ['-c', ptyProgram, `${columns}`, program, ...args], {
    env: { TERM: 'xterm', ...env },
    mayFail: true,
  })
  return { code: ran.code ?? -1, drawn: ran.stdout }
}
