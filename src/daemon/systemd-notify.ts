// Tells systemd how the drive fares (sd_notify). Node has no datagram unix sockets, so systemd's own tool says it; the
// unit needs NotifyAccess=all.

import { runTool } from '../run-tool.ts'

/** Does nothing outside a unit of Type=notify. Fire and forget. */
export function notifySystemd(state: 'ready' | 'stopping'): void {
  if (process.env['NOTIFY_SOCKET'] === undefined) return
  // Without the tool systemd ends the unit at its own timeout and says so.
  void runTool('systemd-notify', [`--${state}`]).catch(() => {})
}
