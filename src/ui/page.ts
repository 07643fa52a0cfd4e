// The page as a whole: one document, and the part of it that is sent anew when something changes.

import { driveView } from './drive-view.ts'
import { html, type Html } from './html.ts'
import type { Seen } from './look.ts'

/** Outcome of an action on the page; the latest comes first. */
export interface Said {
  readonly at: Date
  readonly sentence: string
  readonly isFailure: boolean
}

export interface PageParts {
  readonly seen: Seen
  readonly said: readonly Said[]
  readonly formWord: string
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
export function mainPart({ seen, said, formWord }: PageParts): Html {
  const { drives, left } = seen
  const nothing =
    drives.length === 0 && left.length === 0
      ? html`<p class="card" id="none">
          No drive is mounted. <code>docmount mount PROJECT</code> mounts one.
        </p>`
      : undefined
  return html`${messages(said)}${nothing}${drives.map((drive) => driveView(drive, formWord))}${leftView(left)}`
}

function messages(said: readonly Said[]): Html {
  const lines = said.map(
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

/** `12:30:01` by the clock on the wall. */
function clockTime(at: Date): string {
  return at.toTimeString().slice(0, 8)
}
