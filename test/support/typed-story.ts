// Documented lines as a person types them, one after the other: a script of bash.

import type { Step, Story } from '../setup/documented-stories.ts'

/** Types answers behind their questions at a terminal: the line, then question and answer by turns. */
const person = `
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

/** Each line is typed in the story's folder; what the last one said is in ~/said. */
export function scriptOf({ folder = '~', steps }: Story): string {
  return `
not() { if "$@"; then return 1; fi; }
person=$(mktemp)
cat >"$person" <<'END OF PROGRAM'${person}
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
    const told = answers.flat().map((text) => JSON.stringify(text))
    return `${begin}\nnode "$person" "$line" ${told.join(' ')} | tee ~/said >&2`
  }
  // A program that goes on in the background may keep what it writes to: no pipe.
  if (until === undefined)
    return `${begin}\neval "$line" >~/said 2>&1 || { code=$?; cat ~/said >&2; exit $code; }`
  return `${begin}
(eval "exec $line") >~/said 2>&1 &
for _ in $(seq 600); do grep -qE '${until}' ~/said && break; sleep 0.1; done
grep -qE '${until}' ~/said || { cat ~/said >&2; exit 1; }`
}
