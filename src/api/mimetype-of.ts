// The service's mimetype for a document, by its name's extension. Without a known one, `mimetype-of-content.ts` decides.
// Temporary files of editors are not handled here: `fs/tree/scratch.ts` recognises them first.

import type { Mimetype } from './mimetypes.ts'
import { extensionOf, nameWithoutBackupEnding } from './extension.ts'
import { textExtensions } from './text-extensions.ts'
import { isOfUnsupportedKind } from './unsupported-kind.ts'

const byExtension = new Map<string, Mimetype>()

function extensions(mimetype: Mimetype, names: string): void {
  for (const name of names.split(' ')) byExtension.set(name, mimetype)
}

extensions('application/pdf', 'pdf')
extensions('application/json', 'json geojson jsonld topojson webmanifest ipynb har map')
extensions('application/xml', 'xml xsd xsl xslt xhtml svg rss atom gpx kml wsdl xlf xliff resx plist')
extensions('image/jpeg', 'jpg jpeg jpe jfif')
extensions('image/png', 'png')
extensions('text/csv', 'csv')
extensions('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx')
extensions('application/vnd.ms-excel', 'xls xlt xla')
extensions('video/mp4', 'mp4 m4v mp4v mpg4')
extensions('audio/mp3', 'mp3')
extensions('audio/wav', 'wav wave')
extensions('audio/ogg', 'ogg oga opus spx')
extensions('message/rfc822', 'eml mht mhtml mime')
for (const extension of textExtensions) byExtension.set(extension, 'text/plain')

/** Returns the known extensions of each mimetype, the most usual first. */
export function extensionsByMimetype(): ReadonlyMap<Mimetype, readonly string[]> {
  const found = new Map<Mimetype, string[]>()
  for (const [extension, mimetype] of byExtension) {
    const list = found.get(mimetype)
    if (list === undefined) found.set(mimetype, [extension])
    else list.push(extension)
  }
  return found
}

/** Returns the mimetype of a name's extension; undefined for an unknown or missing extension, or a type the service refuses. */
export function mimetypeOfName(name: string): Mimetype | undefined {
  return byExtension.get(extensionOf(nameWithoutBackupEnding(name) ?? name))
}

/** True if the extension means neither an accepted nor a refused type: `mimetypeOfContent` decides once there is content. */
export function isTypeDecidedByContent(name: string): boolean {
  return mimetypeOfName(name) === undefined && !isOfUnsupportedKind(name)
}
