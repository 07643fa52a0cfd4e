// HTML written as it is meant: whatever is put into it is text, unless it is HTML already.

/** Text that may go into a page as it stands. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Shown = string | number | Html | undefined | readonly Html[]

/** A template: html`<p>${name}</p>`. Everything but `Html` is escaped; `undefined` is nothing. */
export function html(texts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return new Html(texts.reduce((sum, text, index) => sum + written(values[index - 1]) + text))
}

/** As the page shows it: markup is text, and what a terminal or a reader would obey is visible. */
export function escaped(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
      // Control characters, and those that turn the direction of what follows.
      .replaceAll(/(?!\n)[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
  )
}

function written(value: Shown): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return escaped(String(value))
}
