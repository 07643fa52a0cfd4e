// Tells systemd how the drive fares (sd_notify). Node has no datagram unix sockets, so systemd's own tool says it; the
// unit needs NotifyAccess=all.

import { execFile } from 'node:child_process'

/** Does nothing outside a unit of Type=notify. Fire and forget. */
export function notifySystemd(state: 'ready' | 'stopping'): void {
  if (process.env['NOTIFY_SOCKET'] === undefined) return
  execFile('systemd-notify', [`--${state}`], { cwd: '/' }, () => {
    // Without the tool systemd ends the unit at its own timeout and says so.
  })
}
