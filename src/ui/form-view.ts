// A button with an action. It is a form, so that it works by keyboard and without the script.

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

export function formView({ action, drive, path, label, about }: FormParts, formToken: string): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="token" value="${formToken}" /><input
      type="hidden"
      name="drive"
      value="${drive}"
    /><input type="hidden" name="path" value="${path}" /><button aria-label="${label}: ${about}">
      ${label}
    </button>
  </form>`
}
