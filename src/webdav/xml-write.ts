// XML of answers. The prefix `D` stands for the namespace `DAV:`.

/** Escapes text or an attribute value; characters that XML does not allow become U+FFFD. */
export function escapeText(text: string): string {
  return text
    .replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)
    .replace(forbidden, '\uFFFD')
    .replaceAll('\r', '&#13;')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

export const xmlHead = '<?xml version="1.0" encoding="utf-8"?>\n'
export const multistatusHead: string = `${xmlHead}<D:multistatus xmlns:D="DAV:">\n`
export const multistatusEnd = '</D:multistatus>\n'

/** Returns an element of `DAV:`. `content` is XML. */
export function dav(local: string, content = ''): string {
  return content === '' ? `<D:${local}/>` : `<D:${local}>${content}</D:${local}>`
}

/** Returns an empty element of any namespace. */
export function emptyElement({ uri, local }: { uri: string; local: string }): string {
  if (uri === 'DAV:') return `<D:${local}/>`
  return uri === '' ? `<${local} xmlns=""/>` : `<p:${local} xmlns:p="${escapeText(uri)}"/>`
}

export function statusLine(status: number): string {
  return dav('status', `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}`)
}

/** Returns the response of one resource in a multistatus, with its status alone. `href`: percent-encoded, so not escaped here. */
export function statusResponse(href: string, status: number, sentence: string): string {
  const description = dav('responsedescription', escapeText(sentence))
  return `${dav('response', dav('href', href) + statusLine(status) + description)}\n`
}

/** Returns the body of an error answer that names the failed precondition. */
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
