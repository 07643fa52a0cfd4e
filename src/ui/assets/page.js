// Updates the page in place with each event of the server, node by node, so that focus, opened details and scroll position
// stay. Without this script the page reloads every ten seconds.

const main = document.getElementById('drives')
const live = document.getElementById('live')
const events = new EventSource('/live')

events.addEventListener('open', () => {
  live.textContent = 'live'
})
events.addEventListener('error', () => {
  live.textContent = 'no connection: has docmount ui ended? What you see is old'
})
events.addEventListener('message', ({ data }) => {
  const fresh = document.createElement('main')
  fresh.innerHTML = JSON.parse(data)
  const focused = document.activeElement
  const around = [focused.closest('section'), focused.closest('article')]
  adapt(main, fresh)
  if (focused !== document.body && document.activeElement !== focused) focusAgain(focused, around)
})

/** A row that moved keeps the focus. A button that is gone leaves it to the part it was in, and never to another button. */
function focusAgain(focused, around) {
  const label = focused.ariaLabel
  const same = label && [...main.querySelectorAll('button, input')].find((each) => each.ariaLabel === label)
  const target = focused.isConnected ? focused : same || around.find((each) => each?.isConnected) || main
  target.focus({ preventScroll: true })
}

// Forms are sent in the background, so that the page stays; the result comes with the next event.
document.addEventListener('submit', (event) => {
  event.preventDefault()
  const form = event.target
  const body = new URLSearchParams(new FormData(form))
  fetch(form.action, { method: 'POST', body, redirect: 'manual' })
    .then(({ type }) => type === 'opaqueredirect' && form.reset())
    .catch(() => {
      live.textContent = 'that failed: has docmount ui ended?'
    })
})

/** Changes `old` into `fresh`, reusing nodes that are the same. */
function adapt(old, fresh) {
  adaptAttributes(old, fresh)
  const left = [...old.childNodes]
  let at = 0
  for (let node = fresh.firstChild, next; node !== null; node = next) {
    next = node.nextSibling
    const found = left.findIndex((other, index) => index >= at && isSame(other, node))
    if (found === -1) {
      old.insertBefore(node, left[at] ?? null)
      continue
    }
    const [kept] = left.splice(found, 1)
    if (found > at) old.insertBefore(kept, left[at] ?? null)
    left.splice(at, 0, kept)
    at += 1
    if (kept.nodeType === Node.ELEMENT_NODE) adapt(kept, node)
    else if (kept.data !== node.data) kept.data = node.data
  }
  for (const gone of left.slice(at)) gone.remove()
}

function isSame(one, other) {
  return (
    one.nodeName === other.nodeName && (one.id ?? '') === (other.id ?? '') && nameOf(one) === nameOf(other)
  )
}

/** Key of a row: the name of its document. Of a form: what it does, and to what. */
function nameOf(node) {
  if (node.nodeName === 'FORM') return node.dataset.key
  return node.nodeName === 'LI' ? (node.querySelector('.name')?.textContent ?? node.textContent) : ''
}

function adaptAttributes(old, fresh) {
  // Details that the user opened stay open.
  const kept = new Set(old.nodeName === 'DETAILS' ? ['open'] : old === main ? ['id', 'tabindex'] : [])
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  for (const name of old.getAttributeNames())
    if (!fresh.hasAttribute(name) && !kept.has(name)) old.removeAttribute(name)
}
