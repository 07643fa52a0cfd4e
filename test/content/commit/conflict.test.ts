// The name under which a version nobody here had seen is kept.

import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../../src/api/client.ts'
import type { RemoteFile } from '../../../src/api/types.ts'
import { conflictName, keepTheirs, originalName } from '../../../src/content/commit/conflict.ts'
import { areSameDocuments } from '../../../src/content/digest.ts'
import { cutTo } from '../../../src/path.ts'
import { realWorld } from '../../../src/world/world.ts'
import { answerJson, startRawServer } from '../../support/raw-server.ts'

describe('conflict name', () => {
  it('tells their time and our machine, and keeps the extension', () => {
    expect(conflictName('report.pdf', '2026-11-20T20:45:10.123Z', 'desk')).toBe(
      'report (conflict 2026-11-20 20.45.10 desk).pdf',
    )
  })

  it('is the same for the same version, so that doing it twice makes one copy', () => {
    expect(conflictName('a.txt', '2026-01-02T03:04:05Z', 'h')).toBe(
      conflictName('a.txt', '2026-01-02T03:04:05Z', 'h'),
    )
  })

  it('works for names without an extension, hidden names, and versions without a time', () => {
    expect(conflictName('LICENSE', undefined, 'h')).toBe('LICENSE (conflict 1970-01-01 00.00.00 h)')
    expect(conflictName('.profile', undefined, 'h')).toBe('.profile (conflict 1970-01-01 00.00.00 h)')
  })

  it('stays within 255 bytes without cutting a letter in two', () => {
    const name = conflictName(`${'é'.repeat(125)}.txt`, '2026-01-02T03:04:05Z', 'h')
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
    expect(name).toMatch(/^é+ \(conflict 2026-01-02 03\.04\.05 h\)\.txt$/)
    for (const stem of ['😀'.repeat(62), `a${'😀'.repeat(62)}`])
      expect(conflictName(`${stem}.txt`, undefined, 'h')).not.toMatch(/\p{Surrogate}/u)
  })

  it('leads back to the document, unless it was cut', () => {
    for (const name of [
      'a.txt',
      'LICENSE',
      '.profile',
      'a (1).tar.gz',
      'a (conflict 2026-01-02 03.04.05 h).txt',
    ])
      for (const host of ['büro-2.local', 'desk 3'])
        expect(originalName(conflictName(name, undefined, host))).toBe(name)
    expect(originalName(conflictName(`${'é'.repeat(125)}.txt`, undefined, 'h'))).toBeUndefined()
    for (const name of ['a.txt', 'a (conflict).txt', 'a (conflict 2026 h).txt'])
      expect(originalName(name)).toBeUndefined()
  })

  it('is there for any name that a document can have, and ends as that', () => {
    const names = fc
      .tuple(fc.string({ unit: 'grapheme', maxLength: 255 }), fc.string({ unit: 'grapheme', maxLength: 255 }))
      .map(([stem, extension]) => cutTo(`${stem}.${extension}`.replaceAll(/[/\0\p{Surrogate}]/gu, '_'), 255))
    fc.assert(
      fc.property(names, (name) => {
        const kept = conflictName(name, '2026-01-02T03:04:05Z', 'h')
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(255)
        expect(kept).toContain(' (conflict 2026-01-02 03.04.05 h)')
        expect(kept).not.toMatch(/\p{Surrogate}/u)
        if (Buffer.byteLength(kept) < 251) expect(originalName(kept)).toBe(name)
      }),
    )
    for (const name of [`a.${'b'.repeat(253)}`, `.${'b'.repeat(254)}`, `${'é'.repeat(127)}.`])
      expect(Buffer.byteLength(conflictName(name, '2026-01-02T03:04:05Z', 'h'))).toBeLessThanOrEqual(255)
  })
})

describe('a version whose size nobody tells, neither its record nor its download', () => {
  const signal = new AbortController().signal

  it('is kept whole', async () => {
    let kept = ''
    await using server = await startRawServer((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('theirs'))
        return
      }
      void text(request).then((body) => {
        const { file_type: type, file } = JSON.parse(body) as Record<string, string>
        if (type === 'uri') return answerJson(response, 400, { errorMessage: 'no copies by uri' })
        kept = Buffer.from(file ?? '', 'base64').toString()
        return answerJson(response, 201, { ftype: 'file', name: 'a.txt' })
      })
    })
    const client = createClient({ baseUrl: `${server.origin}/api`, apiKey: 'key' })
    const theirs = recordAt(`${server.origin}/theirs`)
    const files = client.files('acme')
    await keepTheirs({
      files,
      timers: realWorld().clock,
      path: '/a.txt',
      theirs,
      hostName: 'h',
      mimetype: 'text/plain',
      signal,
    })
    await client.close()
    expect(kept).toBe('theirs')
  })

  it('is not the same as any other', async () => {
    await using server = await startRawServer((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(request.url ?? ''))
    })
    const client = createClient({ baseUrl: `${server.origin}/api`, apiKey: 'key' })
    const document = (name: string): { path: string; file: RemoteFile } => ({
      path: name,
      file: recordAt(server.origin + name),
    })
    const files = client.files('acme')
    expect(await areSameDocuments(files, document('/ours'), document('/their'), signal)).toBe(false)
    expect(await areSameDocuments(files, document('/ours'), document('/ours'), signal)).toBe(true)
    await client.close()
  })
})

describe.each([
  ['that tells its size', true],
  ['that does not', false],
])('a portal’s page %s, in place of every download', (_, isSized) => {
  const signal = new AbortController().signal
  const page = '<html>log in first</html>'

  it('does not make two documents the same', async () => {
    await using server = await startRawServer((__, response) => {
      response.writeHead(200, isSized ? { 'content-length': page.length } : {}).end(page)
    })
    const client = createClient({ baseUrl: `${server.origin}/api`, apiKey: 'key' })
    const [one, other] = ['/one', '/other'].map((path) => ({
      path,
      file: { ...recordAt(server.origin + path), size: 60_000 },
    })) as [Kept, Kept]
    await expect(areSameDocuments(client.files('acme'), one, other, signal)).rejects.toThrow(
      'the answer has 25 bytes, the document 60000',
    )
    await client.close()
  })

  it.each([10, 60_000])('is not kept as their version, of %d bytes', async (size) => {
    let stored = 0
    await using server = await startRawServer((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, isSized ? { 'content-length': page.length } : {}).end(page)
        return
      }
      void text(request).then(
        (body) => {
          const { file_type: type } = JSON.parse(body) as Record<string, string>
          if (type === 'uri') return answerJson(response, 400, { errorMessage: 'no copies by uri' })
          stored++
          return answerJson(response, 201, { ftype: 'file', name: 'a.txt' })
        },
        () => {},
      )
    })
    const client = createClient({ baseUrl: `${server.origin}/api`, apiKey: 'key' })
    const theirs = { ...recordAt(`${server.origin}/theirs`), size }
    const files = client.files('acme')
    await expect(
      keepTheirs({
        files,
        timers: realWorld().clock,
        path: '/a.txt',
        theirs,
        hostName: 'h',
        mimetype: 'text/plain',
        signal,
      }),
    ).rejects.toThrow(`the document ${size}`)
    await client.close()
    expect(stored).toBe(0)
  })
})

interface Kept {
  readonly path: string
  readonly file: RemoteFile
}

function recordAt(url: string): RemoteFile {
  return { kind: 'file', name: 'a.txt', size: undefined, mimetype: undefined, modifiedAt: undefined, url }
}

it('a copy that was given up while the service makes it is waited for: it comes behind nothing', async () => {
  const givenUp = new AbortController()
  await using server = await startRawServer((request, response) => {
    request.resume().once('end', () => {
      givenUp.abort()
      setImmediate(() => answerJson(response, 201, { ftype: 'file', name: 'a.txt' }))
    })
  })
  const client = createClient({ baseUrl: `${server.origin}/api`, apiKey: 'key' })
  const parts = { files: client.files('acme'), timers: realWorld().clock, signal: givenUp.signal }
  const theirs = recordAt(`${server.origin}/theirs`)
  const kept = keepTheirs({ ...parts, path: '/a.txt', theirs, hostName: 'h', mimetype: 'text/plain' })
  await expect(kept).resolves.toMatch(/^\/a \(conflict /)
  await client.close()
})
