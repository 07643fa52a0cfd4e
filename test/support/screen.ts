// A desktop's screen (Xvfb) and session bus of a test's own, for programs that show something.

import { spawn } from 'node:child_process'
import { run, type Ran } from './run.ts'
import { waitUntil } from './wait-until.ts'

export interface Screen {
  /** Environment of programs that show something on it. */
  readonly env: NodeJS.ProcessEnv
  run(...command: [string, ...string[]]): Promise<Ran>
  /** All that is shown and has a name, as programs tell it to screen readers; needs gir1.2-atspi-2.0. */
  widgets(): Promise<readonly Widget[]>
  /** Saves the screen, and returns the names of those of `colours` (`#rrggbb` by name) that are on it. */
  look(file: string, colours: Readonly<Record<string, string>>): Promise<string[]>
  close(): Promise<void>
}

/** A widget, with its centre on the screen (pixels). */
export interface Widget {
  readonly name: string
  readonly x: number
  readonly y: number
}

/** Commands it needs. */
export const screenPrograms = ['dbus-run-session', 'Xvfb'] as const

/** Tells bus and screen; ends with its stdin. */
const desktop = `
exec 3<&0
Xvfb -displayfd 1 -screen 0 1000x700x24 2>/dev/null >"$HOME/display" & screen=$!
for turn in $(seq 200); do [ -s "$HOME/display" ] && break; sleep 0.05; done
echo "desktop $DBUS_SESSION_BUS_ADDRESS :$(cat "$HOME/display")"
cat <&3 >/dev/null
kill "$screen"; wait`

/** Saves the screen, and prints which of these colours are on it. */
const looking = `
import sys
from PyQt5.QtWidgets import QApplication
from PyQt5.QtGui import QColor
application = QApplication([])
picture = application.primaryScreen().grabWindow(0)
picture.save(sys.argv[1])
image = picture.toImage()
colours = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
print(' '.join(colour for colour in sys.argv[2:] if QColor(colour).rgb() in colours))`

/** Prints the widgets, one a line as JSON. */
const listing = `
import gi, json
gi.require_version('Atspi', '2.0')
from gi.repository import Atspi, GLib
Atspi.init()

def walk(node):
    for position in range(node.get_child_count()):
        # A program changes what it shows meanwhile.
        try:
            child = node.get_child_at_index(position)
            is_shown = child.get_state_set().contains(Atspi.StateType.SHOWING)
            if is_shown and child.get_name():
                place = child.get_extents(Atspi.CoordType.SCREEN)
                x, y = place.x + place.width // 2, place.y + place.height // 2
                print(json.dumps({'name': child.get_name(), 'x': x, 'y': y}))
            if is_shown or child.get_role() in (Atspi.Role.APPLICATION, Atspi.Role.WINDOW, Atspi.Role.MENU):
                walk(child)
        except (GLib.Error, AttributeError):
            continue

walk(Atspi.get_desktop(0))`

/** `env`: with the HOME of the bus and its services. */
export async function startScreen(env: NodeJS.ProcessEnv): Promise<Screen> {
  let said = ''
  const screen = spawn('dbus-run-session', ['--', 'sh', '-c', desktop], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  screen.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [, bus, display] = await waitUntil(
    'the desktop',
    () => /^desktop (\S+) (:\d+)$/m.exec(said) ?? undefined,
  )
  const own = {
    DBUS_SESSION_BUS_ADDRESS: bus,
    DISPLAY: display,
    GDK_BACKEND: 'x11',
    QT_QPA_PLATFORM: 'xcb',
    GSK_RENDERER: 'cairo',
    GSETTINGS_BACKEND: 'memory',
    LANG: 'C.UTF-8',
  }
  const runIn = (...command: [string, ...string[]]): Promise<Ran> =>
    run('timeout', ['30', ...command], { env: { ...env, ...own }, mayFail: true })
  return {
    env: { ...env, ...own },
    run: runIn,
    async widgets() {
      const { stdout } = await runIn('/usr/bin/python3', '-c', listing)
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Widget)
    },
    async look(file, colours) {
      const { stdout } = await runIn('/usr/bin/python3', '-c', looking, file, ...Object.values(colours))
      const seen = stdout.trim().split(' ')
      return Object.entries(colours).flatMap(([name, colour]) => (seen.includes(colour) ? [name] : []))
    },
    async close() {
      const ended = new Promise((end) => screen.once('exit', end))
      screen.stdin.end()
      await ended
    },
  }
}
