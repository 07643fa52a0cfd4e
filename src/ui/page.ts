// The whole page, and the part of it that is sent again when it changes.

import { driveView } from './drive-view.ts'
import { html, type Html } from './html.ts'
import type { PageData } from './page-data.ts'

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
  const { drives, left } = data
  const nothing =
    drives.length === 0 && left.length === 0
      ? html`<p class="card" id="none">
          No drive is mounted. <code>docmount mount PROJECT</code> mounts one.
        </p>`
      : undefined
  return html`${messages(results)}${nothing}${drives.map((drive) => driveView(drive, formToken))}${leftView(left)}`
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

function leftView(left: readonly string[]): Html | undefined {
  if (left.length === 0) return undefined
  const texts = left.map((text) => html`<pre>${text}</pre>`)
  return html`<section class="card" id="left" aria-labelledby="left-title">
    <h2 id="left-title">Not mounted, with leftovers</h2>
    ${texts}
  </section>`
}

/** Returns the local time: `12:30:01`. */
function clockTime(at: Date): string {
  return at.toTimeString().slice(0, 8)
}
