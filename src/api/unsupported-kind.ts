// Says what a refused document is, for messages. Decides nothing: that is mimetype-of.ts.

import { extensionOf, formerName } from './mimetype-of.ts'

const kinds: Readonly<Record<string, string>> = {
  'Word documents': 'doc docx docm dot dotx',
  presentations: 'ppt pptx pptm pps ppsx odp key',
  'OpenDocument files': 'odt ods odg ott fodt',
  'spreadsheets of this type': 'xlsm xlsb numbers',
  archives: 'zip gz tgz bz2 xz zst tar 7z rar jar iso dmg',
  'pictures of this type': 'gif heic heif webp avif tif tiff bmp ico psd ai eps raw cr2 nef dng',
  'videos of this type': 'mov avi mkv webm wmv flv mpg mpeg 3gp',
  'sounds of this type': 'aac flac m4a wma aiff mid midi',
  programs: 'exe msi dll so bin app apk deb rpm com',
  backups: 'bak old orig swp',
  databases: 'db sqlite sqlite3 mdb accdb',
  'e-books': 'epub mobi azw azw3',
  'Outlook messages': 'msg pst ost',
}

const kindByExtension = new Map(
  Object.entries(kinds).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
)

/** What a name the service has no type for stands for, such as `docx files (Word documents)`. */
export function kindOfUnsupported(name: string): string {
  const extension = extensionOf(formerName(name) ?? name) || extensionOf(name)
  if (extension === '') return 'files of this type'
  const kind = kindByExtension.get(extension)
  return kind === undefined ? `${extension} files` : `${extension} files (${kind})`
}
