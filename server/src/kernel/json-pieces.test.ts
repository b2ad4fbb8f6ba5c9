import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toJson } from './exact-json.ts'
import { deferredList, isJsonLonger, jsonPieces } from './json-pieces.ts'

async function written(value: unknown): Promise<{ text: string; longest: number }> {
  const pieces: string[] = []
  for await (const piece of jsonPieces(value)) pieces.push(piece)
  return { text: pieces.join(''), longest: Math.max(...pieces.map(({ length }) => length)) }
}

const long = 'x'.repeat(10_000)

test('pieces together are the same JSON', async () => {
  const { node } = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(
        null,
        undefined,
        true,
        1.5,
        2n ** 70n,
        '',
        'é"\n',
        long,
        Number.NaN,
        () => 1,
        new Date(0),
        JSON.rawJSON('12'),
      ),
      fc.array(tie('node'), { maxLength: 6 }),
      fc.dictionary(fc.constantFrom('a', 'é"', '1', '__proto__', long), tie('node'), { maxKeys: 4 }),
    ),
  }))
  const bodies = fc.array(node, { minLength: 3 }).map((list) => ({ list, long: [long, long, long], empty: {}, none: [] }))
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      expect((await written(body)).text).toBe(toJson(body))
    }),
    { numRuns: 200 },
  )
})

test('long values are divided wherever they are, and deferred lists are made once while they are written', async () => {
  let made = 0
  const rows = (length: number) =>
    deferredList(length, 20, () => {
      made += 1
      return Array.from({ length }, (_, index) => ({ row: index, text: 'some text' }))
    })
  const body = { few: rows(3), many: [{ inside: { rows: rows(50_000) } }], after: 1 }
  const { text, longest } = await written(body)
  expect(made).toBe(2)
  expect(longest).toBeLessThan(200_000)
  expect(text).toBe(toJson(body))
})

test('the length of JSON is estimated closely enough', () => {
  const events = Array.from({ length: 1_000 }, (_, id) => ({ id, text: 'a b c d e f', tags: ['one', 'two'], isOne: true }))
  const { length } = toJson(events)
  expect(isJsonLonger(events, length * 0.8)).toBe(true)
  expect(isJsonLonger(events, length * 1.3)).toBe(false)
})
