// The whole page, and the part of it that is sent again when it changes.

import { driveView } from './drive-view.ts'
import { formView } from './form-view.ts'
import { html, type Html } from './html.ts'
import type { PageData, UnmountedDrive } from './page-data.ts'

/** Result of an action on the page. */
export interface ActionResult {
  readonly at: Date
  readonly sentence: string
  readonly isFailure: boolean
}

export interface PageParts {
  readonly data: PageData
  /** Latest first. */
  readonly results: readonly ActionResult[]
  /** See `Access.formToken`. */
  readonly formToken: string
}

export function page(parts: PageParts): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>docmount</title>
        <link rel="icon" href="/icon.svg" />
        <link rel="stylesheet" href="/page.css" />
        <script src="/page.js" defer></script>
        <noscript><meta http-equiv="refresh" content="10" /></noscript>
      </head>
      <body>
        <a class="skip" href="#drives">To the drives</a>
        <header>
          <h1>docmount</h1>
          <p id="live" role="status">not live: reload the page for news</p>
        </header>
        <main id="drives" tabindex="-1">${mainPart(parts)}</main>
        <footer>
          <p>
            This page is served on this machine, to you alone, until <code>docmount ui</code> ends (Ctrl-C in
            its terminal).
          </p>
        </footer>
      </body>
    </html> `.text
}

/** Content of `main`. */
export function mainPart({ data, results, formToken }: PageParts): Html {
  const { drives, unmounted } = data
  const nothing =
    drives.length === 0 && unmounted.length === 0
      ? html`<p class="card" id="none">
          No drive is mounted. <code>docmount mount PROJECT</code> mounts one.
        </p>`
      : undefined
  return html`${messages(results)}${nothing}${drives.map((drive) => driveView(drive, formToken))}${unmountedView(unmounted, formToken)}`
}

function messages(results: readonly ActionResult[]): Html {
  const lines = results.map(
    ({ at, sentence, isFailure }) =>
      html`<li class="${isFailure ? 'bad' : 'good'}"><time>${clockTime(at)}</time> ${sentence}</li>`,
  )
  return html`<ul id="messages" role="status" aria-label="What was done">
    ${lines}
  </ul>`
}

function unmountedView(unmounted: readonly UnmountedDrive[], formToken: string): Html | undefined {
  if (unmounted.length === 0) return undefined
  const rows = unmounted.map(({ id, project, place, left, canMount }) => {
    const button = canMount
      ? formView({ action: '/mount-again', fields: { id }, label: 'Mount', about: place }, formToken)
      : undefined
    return html`<li>
      <span class="name">${project}</span><span class="facts">${place}</span
      ><span class="buttons">${button}</span>${left === undefined ? undefined : html`<pre>${left}</pre>`}
    </li>`
  })
  return html`<section class="card" id="unmounted" aria-labelledby="unmounted-title" tabindex="-1">
    <h2 id="unmounted-title">Not mounted</h2>
    <ul class="rows">
      ${rows}
    </ul>
  </section>`
}

/** Returns the local time: `12:30:01`. */
function clockTime(at: Date): string {
  return at.toTimeString().slice(0, 8)
}
