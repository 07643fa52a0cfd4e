// Usual kinds of documents for which the service has no mimetype, by extension: creating one is refused at once. For an
// extension that is in no list, the content decides (`mimetype-of-content.ts`).

import { extensionOf, nameWithoutBackupEnding } from './extension.ts'

const kinds: Readonly<Record<string, string>> = {
  'Word documents': 'doc docx docm dotx',
  presentations: 'ppt pptx pptm pps ppsx odp',
  'OpenDocument files': 'odt ods odg ott fodt',
  'spreadsheets of this type': 'xlsm xlsb numbers',
  archives: 'zip gz tgz bz2 xz zst tar 7z rar jar iso dmg',
  'pictures of this type': 'gif heic heif webp avif tif tiff bmp ico psd ai eps cr2 nef dng',
  'videos of this type': 'mov avi mkv webm wmv flv mpg mpeg 3gp',
  'sounds of this type': 'aac flac m4a wma aiff mid midi',
  programs: 'exe msi dll so apk deb rpm',
  databases: 'sqlite sqlite3 mdb accdb',
  'e-books': 'epub mobi azw azw3',
  'Outlook messages': 'msg pst ost',
}

const kindByExtension = new Map(
  Object.entries(kinds).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
)

/** True if the name's extension is in the lists above. */
export function isOfUnsupportedKind(name: string): boolean {
  return kindByExtension.has(extensionOf(nameWithoutBackupEnding(name) ?? name))
}

/** Returns a text for messages about a refused name, such as `docx files (Word documents)`. */
export function kindOfUnsupported(name: string): string {
  // `notes.bak` has no other extension.
  const extension = extensionOf(nameWithoutBackupEnding(name) ?? name) || extensionOf(name)
  if (extension === '') return 'files of this type'
  const kind = kindByExtension.get(extension)
  return kind === undefined ? `${extension} files` : `${extension} files (${kind})`
}
