// `docmount desktop`: emblems and a menu in file managers.

import { type Command, Option } from 'commander'
import { desktopActions, type DesktopAction } from '../desktop-actions.ts'

const help = `
Nautilus needs the package python3-nautilus, Nemo nemo-python, Caja python3-caja and python3-gi, Thunar thunarx-python,
gir1.2-thunarx-3.0 and python3-gi. Dolphin needs none, and xclip or wl-clipboard for "Copy link". The Debian package of
docmount has all this for every user.

Example:
  $ docmount desktop install && nautilus -q`

export function register(program: Command): void {
  const desktop = program
    .command('desktop')
    .summary('emblems and a menu in file managers')
    .description(
      'Installs emblems (sending, waiting, refused, conflict, pinned) and a menu for documents on a drive.',
    )
    .addHelpText('after', help)

  const into = (): Option => new Option('--into <folder>', 'data folder (default: ~/.local/share)').hideHelp()
  desktop
    .command('install')
    .summary('install them for you')
    .description('Installs them in your data folder. Start the file manager anew afterwards.')
    .addOption(into())
    .action(async (options: { into?: string }) => {
      const { installDesktop } = await import('../run-desktop.ts')
      await installDesktop(options.into)
    })

  desktop
    .command('remove')
    .summary('remove them')
    .description('Removes what docmount desktop install installed.')
    .addOption(into())
    .action(async (options: { into?: string }) => {
      const { removeDesktop } = await import('../run-desktop.ts')
      await removeDesktop(options.into)
    })

  desktop
    .command('run', { hidden: true })
    .summary('what an entry of the menu does')
    .description('Does what an entry of the menu says, and tells it by a notification.')
    .addArgument(program.createArgument('<action>', 'entry').choices([...desktopActions]))
    .argument('[path...]', 'paths on a drive (default: from standard input, separated by NUL)')
    .option('--clipboard', 'put links into the clipboard, with wl-copy, xclip or xsel')
    .action(async (action: DesktopAction, paths: readonly string[], options: { clipboard?: boolean }) => {
      const { runDesktopAction } = await import('../desktop-action.ts')
      await runDesktopAction(action, paths, { toClipboard: options.clipboard === true })
    })
}
