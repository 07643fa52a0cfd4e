// One pass over an XML part of an office file. Names come without their prefix, since some writers put `x:` before each.

import { SaxesParser } from 'saxes'

/** The text is not well-formed XML. */
export class XmlError extends Error {
  override readonly name = 'XmlError'
}

export interface XmlVisitor {
  open?(name: string, attributes: ReadonlyMap<string, string>): void
  text?(text: string): void
  close?(name: string): void
}

/** Reads the text once, front to back. Throws XmlError; entities a document declares itself are not expanded. */
export function readXml(text: string, visitor: XmlVisitor): void {
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw new XmlError(error.message, { cause: error })
  })
  parser.on('opentag', (tag) => {
    const attributes = new Map(
      Object.entries(tag.attributes).map(([name, value]) => [localName(name), value]),
    )
    visitor.open?.(localName(tag.name), attributes)
  })
  parser.on('text', (content) => visitor.text?.(content))
  parser.on('cdata', (content) => visitor.text?.(content))
  parser.on('closetag', (tag) => visitor.close?.(localName(tag.name)))
  parser.write(text).close()
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
