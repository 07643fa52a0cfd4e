import { array, assert, json, nat, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { PiecewiseJson } from '../../src/api/piecewise-json.ts'

/** Parses text cut at these places (by byte, wherever that falls in a character). */
function parse(text: string, cuts: readonly number[], room = -1): unknown {
  const bytes = Buffer.from(text)
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b)
  const piecewise = new PiecewiseJson(room)
  for (const [index, place] of places.entries()) piecewise.push(bytes.subarray(places[index - 1] ?? 0, place))
  return piecewise.end()
}

/** The value, or "wrong" where it is not JSON. */
function attempt(parser: () => unknown): unknown {
  try {
    return parser()
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return 'wrong'
  }
}

test('any JSON cut anywhere gives what JSON.parse gives', () => {
  assert(
    property(json({ maxDepth: 5 }), json(), array(nat(), { maxLength: 12 }), (first, second, cuts) => {
      const texts = [first, `{"entries": [${first},${second}, {"a\\\\\\"[": ${first}}], "ü":${second}}`]
      for (const text of texts)
        for (const room of [-1, 0, 20, 2000]) expect(parse(text, cuts, room)).toEqual(JSON.parse(text))
    }),
    { numRuns: 500 },
  )
})

test('any mistake JSON.parse finds is found', () => {
  assert(
    property(
      json(),
      nat(),
      string({ unit: 'grapheme', maxLength: 3 }),
      array(nat()),
      (value, place, insert, cuts) => {
        const whole = `{"e":[${value},${value}]}`
        const at = place % whole.length
        const text = whole.slice(0, at) + insert + whole.slice(at + 1)
        expect(attempt(() => parse(text, cuts))).toEqual(attempt(() => JSON.parse(text)))
      },
    ),
    { numRuns: 2000 },
  )
})

test.each([
  '{"e":[,]}',
  '{"e":[1,]}',
  '{"e":[,1]}',
  '{"e":[1,,2]}',
  '{"e":[1}',
  '{"e":[1]',
  '{"e":1]}',
  '[[1,]]',
  '{"e":["a]}',
])('%s is no JSON, wherever it is cut', (text) => {
  for (let cut = 0; cut <= text.length; cut++) expect(() => parse(text, [cut])).toThrow(SyntaxError)
})

test('a key called __proto__ is a key', () => {
  const value = parse('{"__proto__":[1]}', []) as object
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
})
