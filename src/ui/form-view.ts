// A button that does something: a form of its own, so that it works by keyboard and without the script.

import { html, type Html } from './html.ts'

export interface FormParts {
  readonly action: '/retry' | '/copy-out' | '/open-folder'
  /** The drive's id on the page. */
  readonly drive: string
  readonly path: string
  readonly label: string
  /** Object of the action, for screen readers. */
  readonly about: string
}

export function formView({ action, drive, path, label, about }: FormParts, formWord: string): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="word" value="${formWord}" /><input
      type="hidden"
      name="drive"
      value="${drive}"
    /><input type="hidden" name="path" value="${path}" /><button aria-label="${label}: ${about}">
      ${label}
    </button>
  </form>`
}
