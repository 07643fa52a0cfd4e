// Summarises vitest's JSON report: scripts/test-summary.mjs REPORT.json
// Exits 1 if a test failed, or if CI is set and the mount tests did not run.

import { readdirSync, readFileSync } from 'node:fs'

/** Paths of the mount project's files: vitest's report does not contain the project. */
const mounting = /\/test\/(mount|crash|model|behaviour\/mount)/

const counts = countsOf(process.argv[2])
let failed = counts?.failed ?? 0

// No report: vitest ended before writing it.
if (counts === undefined) complain('the tests did not finish')
// On a build machine (CI is set) skipped mount tests count as failures.
if (process.env.CI !== undefined && counts !== undefined) {
  if (!counts.hasMounted) complain('the mount tests did not run, and CI is set')
  for (const file of counts.idle) complain('no test ran in ' + file + ', and CI is set')
}
const leftOut = counts?.leftOut ?? []
// Files that are not part of a plain run, and the project on PostgreSQL: none of their tests reports that it was left out.
if (process.env.DOCMOUNT_ALL === undefined)
  leftOut.push(
    ...thoroughFiles(),
    'the service on PostgreSQL, and with contents in S3: its promises once more, several nodes, what is killed, migrate',
  )
if (leftOut.length > 0) {
  console.log('left out; scripts/test --all runs it:')
  for (const what of leftOut) console.log(`  ${what}`)
}
// Failures again at the end: a build machine may keep only the last lines of the output.
const failures = counts?.failures ?? []
const maxLines = Math.max(12, Math.floor(120 / failures.length))
for (const { name, message } of failures) {
  console.log(`failed: ${String(name)}`)
  const lines = message.split('\n').filter((line) => !line.includes('node_modules'))
  // Long messages keep their beginning and end.
  const shown = lines.length <= maxLines ? lines : [...lines.slice(0, 6), '…', ...lines.slice(7 - maxLines)]
  console.log(shown.join('\n').replace(/^/gm, '  '))
}
console.log(`${counts?.passed ?? 0} passed, ${failed} failed, ${counts?.skipped ?? 0} skipped`)
process.exitCode = failed > 0 ? 1 : 0

/** Each such file, by the first sentence of its header. */
function thoroughFiles() {
  const tests = new URL('../test/', import.meta.url)
  return readdirSync(tests, { recursive: true })
    .filter((name) => name.endsWith('.thorough.test.ts'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => {
      const [header] = /^(?:\/\/.*\n)+/.exec(readFileSync(new URL(name, tests), 'utf8')) ?? ['']
      const [sentence] = header
        .replaceAll(/\/\/ ?/g, '')
        .replaceAll('\n', ' ')
        .split(/(?<=\.) (?=[A-Z])/)
      return `${name.replace('.thorough.test.ts', '')}: ${sentence.trim()}`
    })
}

function complain(text) {
  console.error(`test: ${text}`)
  failed++
}

function countsOf(path) {
  let report
  try {
    report = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
  const counts = { passed: 0, failed: 0, skipped: 0, hasMounted: false, idle: [], leftOut: [], failures: [] }
  for (const { name, status, message, assertionResults } of report.testResults) {
    for (const result of assertionResults) {
      if (result.status === 'passed' || result.status === 'failed') counts[result.status]++
      else counts.skipped++
      if (result.status === 'failed') {
        counts.failures.push({
          name: `${name} > ${result.fullName}`,
          message: result.failureMessages.join('\n'),
        })
      }
      const leftOut = /^with --all: (.*)$/.exec(result.title)?.[1]
      if (leftOut !== undefined) counts.leftOut.push(leftOut)
    }
    // A file also fails if it cannot be loaded, or if its hooks fail.
    if (status === 'failed' && !assertionResults.some((result) => result.status === 'failed')) {
      counts.failed++
      counts.failures.push({ name, message: message ?? '' })
    }
    const isNeeded = assertionResults.every(({ title }) => !title.startsWith('not needed here'))
    const hasRun = assertionResults.some(({ status }) => status === 'passed' || status === 'failed')
    if (!mounting.test(name)) continue
    if (hasRun) counts.hasMounted = true
    else if (isNeeded) counts.idle.push(name)
  }
  return counts
}
