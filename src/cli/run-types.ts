// Implements `docmount types`. The service takes 17 types (interface, "Document"); a name's extension decides, else the content.

import { extensionsByMimetype, isTypeDecidedByContent, mimetypeOfName } from '../api/mimetype-of.ts'
import { kindOfUnsupported } from '../api/unsupported-kind.ts'
import { exitCodes } from './exit-codes.ts'
import { wrapped } from './wrapped.ts'

const byContent = 'tells no type: decided by the content'

export function runTypes(names: readonly string[], json: boolean): void {
  if (names.length > 0) judge(names, json)
  else list(json)
}

function judge(names: readonly string[], json: boolean): void {
  const judged = names.map((name) => ({ name, mimetype: mimetypeOfName(name) }))
  if (json) {
    console.log(
      JSON.stringify(
        Object.fromEntries(judged.map(({ name, mimetype }) => [name, mimetype ?? null])),
        null,
        2,
      ),
    )
  } else {
    for (const { name, mimetype } of judged) console.log(`${name}: ${mimetype ?? refusalOf(name)}`)
  }
  const isRefused = judged.some(
    ({ name, mimetype }) => mimetype === undefined && !isTypeDecidedByContent(name),
  )
  if (isRefused) process.exitCode = exitCodes.failure
}

function refusalOf(name: string): string {
  if (isTypeDecidedByContent(name)) return byContent
  return `refused, the service takes no ${kindOfUnsupported(name)}`
}

function list(json: boolean): void {
  const taken = extensionsByMimetype()
  if (json) {
    console.log(JSON.stringify(Object.fromEntries(taken), null, 2))
    return
  }
  for (const [mimetype, extensions] of taken) {
    console.log(mimetype)
    for (const line of wrapped(extensions.join(' '), 96)) console.log(`    ${line}`)
  }
  console.log(byContent)
  console.log(
    'files that the service has no type for (zip, docx, odt, pptx, gif, heic, exe, …) are refused when they are created;',
  )
  console.log('docmount mount --unsupported-as MIMETYPE sends them as another type')
}
