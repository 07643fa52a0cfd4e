// The XML of S3’s answers, which is flat: elements have no attributes, and none is inside another of its name.

/** Returns the text inside each element of this name. */
export function elements(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inside]) => inside!)
}

/** Returns the unescaped text of the first element of this name; undefined if there is none. */
export function valueOf(text: string, name: string): string | undefined {
  return elements(text, name)[0]
    ?.replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
