// Parses an XML part of an office file in one pass. Names lose their prefix, since some programs write `x:` before each.

import { SaxesParser } from 'saxes'

/** The text is not well-formed XML, or exceeds the limits below. */
export class XmlError extends Error {
  override readonly name = 'XmlError'
}

/** Limits of the nesting depth, and of the attributes of one element: office files reach a tenth of these. */
const maxDepth = 256
const maxAttributes = 256
/** Limit of elements and attributes: five million cells with a value, a reference, a style and a type. */
const maxMarks = 25_000_000
/** Limit of entities like `&amp;`, which take far longer to parse than other text. */
const maxEntities = 5_000_000

export interface XmlVisitor {
  open?(name: string, attributes: ReadonlyMap<string, string>): void
  text?(text: string): void
  close?(name: string): void
}

/**
 * Calls the visitor for each element and text, in order. Entities that the document declares are not expanded. Throws XmlError;
 * the other limits are checked while parsing, because an element takes a hundred times the memory of its text.
 */
export function readXml(text: string, visitor: XmlVisitor): void {
  checkEntities(text)
  const parser = new SaxesParser()
  const counts = { depth: 0, attributes: 0, marks: 0 }
  const mark = (): void => {
    if (++counts.marks > maxMarks) throw new XmlError(`more than ${maxMarks} elements and attributes`)
  }
  parser.on('error', (error) => {
    throw new XmlError(error.message, { cause: error })
  })
  parser.on('opentagstart', () => {
    mark()
    counts.attributes = 0
    if (++counts.depth > maxDepth) throw new XmlError(`more than ${maxDepth} elements within each other`)
  })
  parser.on('attribute', () => {
    mark()
    if (++counts.attributes > maxAttributes)
      throw new XmlError(`an element with more than ${maxAttributes} attributes`)
  })
  parser.on('opentag', (tag) => {
    const attributes = new Map(
      Object.entries(tag.attributes).map(([name, value]) => [localName(name), value]),
    )
    visitor.open?.(localName(tag.name), attributes)
  })
  parser.on('text', (content) => visitor.text?.(content))
  parser.on('cdata', (content) => visitor.text?.(content))
  parser.on('closetag', (tag) => {
    counts.depth--
    visitor.close?.(localName(tag.name))
  })
  parser.write(text).close()
}

function checkEntities(text: string): void {
  let entities = 0
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1))
    if (++entities > maxEntities) throw new XmlError(`more than ${maxEntities} entities`)
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
