// Reports the state of the drive, or the service, to systemd (sd_notify). Node has no Unix datagram sockets, so the command
// `systemd-notify` does it; the unit needs NotifyAccess=all.

import { runTool } from '../run-tool.ts'

/** Reports a state, without waiting; does nothing outside a unit of Type=notify. */
export function notifySystemd(state: 'ready' | 'stopping'): void {
  notify(`--${state}`)
}

/** Sets the sentence that `systemctl status` and `docmount service status` show until the unit starts again. */
export function setSystemdStatus(sentence: string): void {
  notify(`--status=${sentence.split('\n', 1)[0]}`)
}

function notify(argument: string): void {
  if (process.env['NOTIFY_SOCKET'] === undefined) return
  // Without the command, systemd ends the unit at its timeout and logs it.
  void runTool('systemd-notify', [argument]).catch(() => {})
}
