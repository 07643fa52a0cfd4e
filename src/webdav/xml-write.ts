// Answers in XML. The prefix `D` stands for DAV: everywhere.

/** For text and for attribute values; what XML cannot say at all becomes U+FFFD. */
export function escapeText(text: string): string {
  return text
    .replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)
    .replace(unsayable, '\uFFFD')
    .replaceAll('\r', '&#13;')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const unsayable = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

export const xmlHead = '<?xml version="1.0" encoding="utf-8"?>\n'
export const multistatusHead: string = `${xmlHead}<D:multistatus xmlns:D="DAV:">\n`
export const multistatusEnd = '</D:multistatus>\n'

/** `content` is XML already. */
export function dav(local: string, content = ''): string {
  return content === '' ? `<D:${local}/>` : `<D:${local}>${content}</D:${local}>`
}

/** An element of any namespace, without content. */
export function emptyElement({ uri, local }: { uri: string; local: string }): string {
  if (uri === 'DAV:') return `<D:${local}/>`
  return uri === '' ? `<${local} xmlns=""/>` : `<p:${local} xmlns:p="${escapeText(uri)}"/>`
}

export function statusLine(status: number): string {
  return dav('status', `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}`)
}

/** One resource of a multistatus, of which nothing but the status is told. */
export function statusResponse(href: string, status: number, sentence: string): string {
  const description = dav('responsedescription', escapeText(sentence))
  return `${dav('response', dav('href', href) + statusLine(status) + description)}\n`
}

/** The body of an answer that names the precondition that failed. */
export function errorBody(condition: string, href: string | undefined): string {
  const content = dav(condition, href === undefined ? '' : dav('href', href))
  return `${xmlHead}<D:error xmlns:D="DAV:">${content}</D:error>\n`
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  423: 'Locked',
  424: 'Failed Dependency',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}
