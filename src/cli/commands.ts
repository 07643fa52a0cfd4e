// All commands and their files. Only the file of the command that runs is loaded, so that quick commands start quickly.

import type { Command } from 'commander'

export interface CommandFile {
  /** `makeProgram` makes another program: with the named command, or with all commands. */
  register(program: Command, makeProgram: (command?: string) => Promise<Command>): void
}

/** In the order of `docmount --help`. */
const commandFiles: Readonly<Record<string, () => Promise<CommandFile>>> = {
  login: () => import('./commands/login.ts'),
  mount: () => import('./commands/mount.ts'),
  webdav: () => import('./commands/webdav.ts'),
  unmount: () => import('./commands/unmount.ts'),
  status: () => import('./commands/status.ts'),
  explain: () => import('./commands/explain.ts'),
  report: () => import('./commands/report.ts'),
  ui: () => import('./commands/ui.ts'),
  log: () => import('./commands/log.ts'),
  activity: () => import('./commands/activity.ts'),
  wait: () => import('./commands/wait.ts'),
  refresh: () => import('./commands/refresh.ts'),
  retry: () => import('./commands/retry.ts'),
  resolve: () => import('./commands/resolve.ts'),
  dismiss: () => import('./commands/dismiss.ts'),
  pause: () => import('./commands/pause.ts'),
  bwlimit: () => import('./commands/bwlimit.ts'),
  resume: () => import('./commands/resume.ts'),
  pin: () => import('./commands/pin.ts'),
  unpin: () => import('./commands/unpin.ts'),
  pins: () => import('./commands/pins.ts'),
  free: () => import('./commands/free.ts'),
  fetch: () => import('./commands/fetch.ts'),
  cache: () => import('./commands/cache.ts'),
  link: () => import('./commands/link.ts'),
  trash: () => import('./commands/trash.ts'),
  versions: () => import('./commands/versions.ts'),
  restore: () => import('./commands/restore.ts'),
  recover: () => import('./commands/recover.ts'),
  desktop: () => import('./commands/desktop.ts'),
  service: () => import('./commands/service.ts'),
  projects: () => import('./commands/projects.ts'),
  ls: () => import('./commands/ls.ts'),
  get: () => import('./commands/get.ts'),
  put: () => import('./commands/put.ts'),
  rm: () => import('./commands/rm.ts'),
  tables: () => import('./commands/tables.ts'),
  reconcile: () => import('./commands/reconcile.ts'),
  tasks: () => import('./commands/tasks.ts'),
  runs: () => import('./commands/runs.ts'),
  forward: () => import('./commands/forward.ts'),
  serve: () => import('./commands/serve.ts'),
  keys: () => import('./commands/keys.ts'),
  backup: () => import('./commands/backup.ts'),
  check: () => import('./commands/check.ts'),
  migrate: () => import('./commands/migrate.ts'),
  doctor: () => import('./commands/doctor.ts'),
  types: () => import('./commands/types.ts'),
  completion: () => import('./commands/completion.ts'),
}

/** Aliases, by the name in `commandFiles`. */
const aliases: Readonly<Record<string, string>> = { umount: 'unmount', list: 'ls' }

/** Returns the loader of the named command's file; for help (undefined) and an unknown name, all loaders. */
export function commandFilesFor(name: string | undefined): readonly (() => Promise<CommandFile>)[] {
  const file = name === undefined ? undefined : commandFiles[aliases[name] ?? name]
  return file === undefined ? Object.values(commandFiles) : [file]
}
