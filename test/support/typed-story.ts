// Bash script that runs documented lines one after the other, as a user types them.

import type { Step, Story } from '../setup/documented-stories.ts'

/** Node program that runs a command line at a terminal and answers its questions. Arguments: line, question, answer, … */
const answerer = `
const [line, ...todo] = process.argv.slice(2)
const terminal = require('node:child_process').spawn('script', ['-qefc', line, '/dev/null'], {
  env: { ...process.env, SHELL: '/bin/bash' },
  stdio: ['pipe', 'pipe', 'inherit'],
})
let said = ''
terminal.stdout.setEncoding('utf8').on('data', (piece) => {
  process.stdout.write(piece)
  said += piece
  if (todo.length === 0 || !said.includes(todo[0])) return
  terminal.stdin.write(todo[1] + '\\r')
  todo.splice(0, 2)
  said = ''
})
terminal.on('exit', (code) => (process.exitCode = todo.length === 0 ? code : 1))`

/** Returns the script. It runs each line in the story's folder, and keeps the output of the last one in ~/said. */
export function scriptOf({ folder = '~', steps }: Story): string {
  return `
not() { if "$@"; then return 1; fi; }
answerer=$(mktemp)
cat >"$answerer" <<'END OF PROGRAM'${answerer}
END OF PROGRAM
cd ${folder}
${steps.map((step) => typed(step, folder)).join('\n')}
`
}

function typed({ line, given, file, until, replaced = {}, answers }: Step, folder: string): string {
  if (line === undefined) return given ?? ''
  const words = Object.entries(replaced).map(([word, variable]) => `line=\${line//${word}/$${variable}}`)
  const begin = `
line=$(cat <<'END OF LINE'
${line}
END OF LINE
)
echo "$ $line" >&2
${words.join('\n')}
cd ${folder}`
  if (file !== undefined) return `${begin}\nprintf '%s\\n' "$line" >${file}`
  if (answers !== undefined) {
    const texts = answers.flat().map((text) => JSON.stringify(text))
    return `${begin}\nnode "$answerer" "$line" ${texts.join(' ')} | tee ~/said >&2`
  }
  // A file and no pipe: a program that continues in the background would keep the pipe open.
  if (until === undefined)
    return `${begin}\neval "$line" >~/said 2>&1 || { code=$?; cat ~/said >&2; exit $code; }`
  return `${begin}
(eval "exec $line") >~/said 2>&1 &
for _ in $(seq 600); do grep -qE '${until}' ~/said && break; sleep 0.1; done
grep -qE '${until}' ~/said || { cat ~/said >&2; exit 1; }`
}
