import { expect, test } from 'vitest'
import { patternIdsIn, patternLabel, withPatternTexts, withPatternValues } from './pattern-texts.ts'

const ID = 'dd948d5897780d82'
const OTHER = '0123456789abcdef'

test('the ids of patterns are found only in queries that name patterns', () => {
  expect(patternIdsIn(`@pattern = '${ID}' OR NOT @pattern IN ('${ID}', '${OTHER}')`)).toEqual([ID, OTHER])
  expect(patternIdsIn(`trace_id = '${ID}'`)).toEqual([])
})

test('known ids are replaced by the texts of their patterns, and others stay', () => {
  const query = `@pattern = '${ID}' AND @pattern != '${OTHER}'`
  expect(withPatternTexts(query, new Map())).toBe(query)
  expect(withPatternTexts(query, new Map([[ID, 'order <*> placed']]))).toBe(`@pattern = “order <*> placed” AND @pattern != '${OTHER}'`)
})

test('a text is one line, and cut where it is long', () => {
  expect(patternLabel('a\n  b')).toBe('“a b”')
  expect(patternLabel('x'.repeat(500))?.length).toBe(122)
  expect(patternLabel(undefined)).toBe(undefined)
})

test('in the name of a group an id stands alone', () => {
  const texts = new Map([[ID, 'order <*> placed']])
  expect(withPatternValues(ID, texts)).toBe('“order <*> placed”')
  expect(withPatternValues(`@pattern:${ID},host:a`, texts)).toBe('@pattern:“order <*> placed”,host:a')
  expect(withPatternValues(`${ID}0 ${OTHER}`, texts)).toBe(`${ID}0 ${OTHER}`)
})
