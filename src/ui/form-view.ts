// A button with an action. It is a form, so that it works by keyboard and without the script.

import { html, type Html } from './html.ts'

export interface FormParts {
  /** A path of `actions`. */
  readonly action: `/${string}`
  /** Hidden fields, by name. */
  readonly fields: Readonly<Record<string, string>>
  readonly label: string
  /** Object of the action, for screen readers. */
  readonly about: string
  /** Identifies the form on the page, so that the script keeps its focus when `label` or `about` change. Default: both of these. */
  readonly key?: string
  /** A field to be filled in. */
  readonly input?: { readonly name: string; readonly type: 'text' | 'password'; readonly label: string }
}

export function formView(
  { action, fields, label, about, input, key = `${label}: ${about}` }: FormParts,
  formToken: string,
): Html {
  const hidden = Object.entries({ token: formToken, ...fields }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )
  const field =
    input === undefined
      ? undefined
      : html`<input
          type="${input.type}"
          name="${input.name}"
          aria-label="${input.label}: ${about}"
          placeholder="${input.label}"
          autocomplete="off"
          spellcheck="false"
          required
        />`
  return html`<form method="post" action="${action}" data-key="${key}">
    ${hidden}${field}<button aria-label="${label}: ${about}">${label}</button>
  </form>`
}
