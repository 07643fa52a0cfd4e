// Tells systemd how the drive, or the service, fares (sd_notify). Node has no datagram unix sockets, so systemd's own tool says it; the
// unit needs NotifyAccess=all. The process ends no earlier than the tool, unless it is made to.

import { runTool } from '../run-tool.ts'

/** Does nothing outside a unit of Type=notify. Fire and forget. */
export function notifySystemd(state: 'ready' | 'stopping'): void {
  notify(`--${state}`)
}

/** Has `systemctl status` and `docmount service status` show a sentence until the unit starts again. */
export function saySystemd(sentence: string): void {
  notify(`--status=${sentence.split('\n', 1)[0]}`)
}

function notify(word: string): void {
  if (process.env['NOTIFY_SOCKET'] === undefined) return
  // Without the tool systemd ends the unit at its own timeout and says so.
  void runTool('systemd-notify', [word]).catch(() => {})
}
