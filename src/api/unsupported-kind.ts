// The kinds of documents that people keep and that the service has no type for, by their extensions: refused as soon as
// one is made. An extension that is in no list says nothing: of such a name the content decides.

import { extensionOf, formerName } from './extension.ts'

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

/** True for a name whose extension says that the service has no type for what it names. */
export function isOfUnsupportedKind(name: string): boolean {
  return kindByExtension.has(extensionOf(formerName(name) ?? name))
}

/** The kind of file that a name stands for, if the service has no type for it, such as `docx files (Word documents)`. */
export function kindOfUnsupported(name: string): string {
  const extension = extensionOf(formerName(name) ?? name) || extensionOf(name)
  if (extension === '') return 'files of this type'
  const kind = kindByExtension.get(extension)
  return kind === undefined ? `${extension} files` : `${extension} files (${kind})`
}
