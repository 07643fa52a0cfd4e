// A button with an action. It is a form, so that it works by keyboard and without the script.

import { html, type Html } from './html.ts'

export interface FormParts {
  readonly action: `/${string}`
  /** The drive's id on the page. */
  readonly drive: string
  readonly path: string
  readonly label: string
  /** Object of the action, for screen readers. */
  readonly about: string
  /** A field beside path and drive. */
  readonly more?: { readonly name: string; readonly value: string }
}

export function formView({ action, drive, path, label, about, more }: FormParts, formToken: string): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="token" value="${formToken}" /><input
      type="hidden"
      name="drive"
      value="${drive}"
    /><input type="hidden" name="path" value="${path}" />${
      more === undefined ? undefined : html`<input type="hidden" name="${more.name}" value="${more.value}" />`
    }<button aria-label="${label}: ${about}">${label}</button>
  </form>`
}
