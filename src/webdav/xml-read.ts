// Parses XML bodies of PROPFIND, PROPPATCH and LOCK into a tree, with saxes. Document types and custom entities are refused;
// the depth is limited here, the size by `Exchange.xml`.

import { SaxesParser, type SaxesTagNS } from 'saxes'
import { Refused } from './refused.ts'
import { escapeText } from './xml-write.ts'

export interface Element {
  /** Namespace; empty for none. */
  readonly uri: string
  readonly local: string
  readonly children: readonly Node[]
  /** XML text of the element, with each namespace declared where it is used. */
  readonly source: string
}

type Node = Element | string

interface Open {
  readonly tag: SaxesTagNS
  readonly children: Node[]
  source: string
}

const maximumDepth = 32

/** Returns the root element. Throws Refused (400) for invalid or too deeply nested XML. */
export function parseXml(text: string): Element {
  const parser = new SaxesParser({ xmlns: true, position: false })
  const open: Open[] = []
  let root: Element | undefined
  parser.on('error', (error) => {
    throw new Refused(400, `the body is not XML: ${error.message}`)
  })
  parser.on('doctype', () => {
    throw new Refused(400, 'a body with a document type is not read')
  })
  parser.on('opentag', (tag) => {
    if (open.length === maximumDepth) throw new Refused(400, 'the body is nested too deeply')
    open.push({ tag, children: [], source: `<${tag.name}${declarations(tag)}>` })
  })
  const addText = (added: string): void => {
    const parent = open.at(-1)
    if (parent === undefined) return
    parent.children.push(added)
    parent.source += escapeText(added)
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const closed = open.pop()
    if (closed === undefined) return
    const { tag, children } = closed
    const element = { uri: tag.uri, local: tag.local, children, source: `${closed.source}</${tag.name}>` }
    const parent = open.at(-1)
    if (parent === undefined) root = element
    else {
      parent.children.push(element)
      parent.source += element.source
    }
  })
  parser.write(text).close()
  if (root === undefined) throw new Refused(400, 'the body is empty')
  return root
}

/** Returns the text of a tag's attributes, and declarations of the namespaces it uses. */
function declarations(tag: SaxesTagNS): string {
  const namespaces = new Map([[tag.prefix, tag.uri]])
  let written = ''
  for (const { prefix, local, name, uri, value } of Object.values(tag.attributes)) {
    if (prefix === 'xmlns' || (prefix === '' && local === 'xmlns') || name === 'xmlns') continue
    if (prefix !== '' && prefix !== 'xml') namespaces.set(prefix, uri)
    written += ` ${name}="${escapeText(value)}"`
  }
  for (const [prefix, uri] of namespaces) {
    written += ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeText(uri)}"`
  }
  return written
}

/** Returns the child elements in the namespace `DAV:`, or those with a local name. */
export function davChildren(element: Element, local?: string): readonly Element[] {
  return elementsOf(element).filter(
    (child) => child.uri === 'DAV:' && (local === undefined || child.local === local),
  )
}

export function elementsOf({ children }: Element): readonly Element[] {
  return children.filter((child) => typeof child !== 'string')
}

export function textOf({ children }: Element): string {
  return children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('')
}
