// HTML templates that escape each inserted value, unless it is HTML already.

/** Text that needs no escaping. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Shown = string | number | Html | undefined | readonly Html[]

/** A template: html`<p>${name}</p>`. All values but `Html` are escaped; `undefined` becomes empty. */
export function html(texts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return new Html(texts.reduce((sum, text, index) => sum + written(values[index - 1]) + text))
}

/** Escapes markup, and makes control and direction characters visible. */
export function escaped(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
      // Control characters, and those that change the direction of the following text.
      .replaceAll(/(?!\n)[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
  )
}

function written(value: Shown): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return escaped(String(value))
}
