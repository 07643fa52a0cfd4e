// `docmount types`: what is taken, and what is not.

import { expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { mimetypes } from '../../src/api/mimetypes.ts'
import { run } from '../support/run.ts'

const types = (...args: string[]) => run(process.execPath, [cli, 'types', ...args], { mayFail: true })

test('every extension is listed under a type the service takes', async () => {
  const taken = JSON.parse((await types('--json')).stdout) as Record<string, string[]>
  for (const mimetype of Object.keys(taken)) expect(mimetypes).toContain(mimetype)
  expect(taken['application/pdf']).toEqual(['pdf'])
  expect(taken['text/plain']).toContain('md')
})

test('a name is judged by its extension; a refused one is named and makes it fail', async () => {
  const { code, stdout } = await types('scan.pdf', 'letter.docx', 'README')
  expect(stdout.trim().split('\n')).toEqual([
    'scan.pdf: application/pdf',
    'letter.docx: refused, the service takes no docx files (Word documents)',
    'README: tells no type: decided by the content',
  ])
  expect(code).toBe(1)
  expect((await types('scan.pdf', 'README')).code).toBe(0)
})
