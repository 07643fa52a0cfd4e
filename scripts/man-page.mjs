// The man page, generated from the definitions of the commands.

/** Returns the man page as source for man(7). */
export function manPage({ version, description, commands }) {
  return [
    `.TH DOCMOUNT 1 "" "docmount ${version}" "User Commands"`,
    '.SH NAME',
    'docmount \\- a drive for documents',
    '.SH SYNOPSIS',
    '.B docmount',
    '.I command',
    '[options] [arguments]',
    '.SH DESCRIPTION',
    escaped(description),
    'Everything saved is in the service, or journaled and synced to disk on this machine, when close returns.',
    '.SH COMMANDS',
    ...commands.flatMap((command) => section(command, '')),
    '.SH ENVIRONMENT',
    ...term('DOCMOUNT_BASE_URL', 'the service, /api included'),
    ...term(
      'DOCMOUNT_API_KEY, DOCMOUNT_API_KEY_FILE',
      'the key, or the file that holds it; never an argument',
    ),
    ...term('DOCMOUNT_CONFIG', 'the configuration file; default ~/.config/docmount/config.json (mode 0600)'),
    ...term('HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'a proxy, and the hosts that are asked without it'),
    ...term('NODE_EXTRA_CA_CERTS', 'a file of certificate authorities that are trusted, too'),
    '.SH FILES',
    ...term(
      '~/.config/docmount/config.json',
      'service, keys, proxy, certificates, and options of drives, for each project (mode 0600)',
    ),
    ...term(
      '~/.local/state/docmount/PROJECT-HASH/',
      'what the service does not have yet, and the log of the drive (docmount.log); not to be deleted',
    ),
    ...term('~/.cache/docmount/PROJECT-HASH/', 'blocks of documents, and what is pinned; may be deleted'),
    ...term('$XDG_RUNTIME_DIR/docmount/', 'control sockets and records of the drives that are mounted'),
    ...term('~/.config/systemd/user/docmount-PROJECT.service', 'a drive that docmount service install made'),
    ...term('/etc/fstab', 'drives that root mounts, by mount.docmount: docmount service install --fstab'),
    '.SH EXIT STATUS',
    '0 done; 1 failed; 2 wrong usage; 75 temporary, try again later.',
    '.SH SEE ALSO',
    '.BR mount (8),',
    '.BR fusermount3 (1)',
    '',
  ].join('\n')
}

function section(command, above) {
  const name = above + command.name
  const own = [
    `.SS "docmount ${escaped(above + command.usage)}"`,
    escaped(command.description),
    ...command.options.flatMap(({ usage, description, choices }) =>
      term(usage, choices.length === 0 ? description : `${description} (${choices.join(', ')})`),
    ),
    ...command.arguments.flatMap(({ usage, description, choices }) =>
      choices.length === 0 ? [] : term(usage, `${description} (${choices.join(', ')})`),
    ),
  ]
  return [...own, ...command.commands.flatMap((below) => section(below, `${name} `))]
}

function term(words, text) {
  return ['.TP', `.B ${escaped(words)}`, escaped(text)]
}

/** Escapes text for man(7): backslashes, dashes (which then can be copied), and a dot or quote that begins a line. */
function escaped(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
}
