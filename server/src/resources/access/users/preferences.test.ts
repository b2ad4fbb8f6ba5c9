import { expect, test } from 'vitest'
import { mergePreferences } from './preferences.ts'

const one = '11111111-1111-4111-8111-111111111111'
const two = '22222222-2222-4222-8222-222222222222'

test('given members of an object overwrite and the others stay', () => {
  const known = { favourites: { monitors: [one], dashboards: [one] }, features: { beta: true }, theme: 'dark' as const }
  expect(mergePreferences(known, { favourites: { dashboards: [two] } })).toEqual({
    favourites: { monitors: [one], dashboards: [two] },
    features: { beta: true },
    theme: 'dark',
  })
  expect(mergePreferences(known, { features: { gamma: false } }).features).toEqual({ beta: true, gamma: false })
})

test('null clears a default and leaves the other', () => {
  const known = { defaults: { monitor: one, dashboard: two } }
  expect(mergePreferences(known, { defaults: { monitor: null } })).toEqual({ defaults: { dashboard: two } })
  expect(mergePreferences({}, { defaults: { monitor: null } })).toEqual({ defaults: {} })
})

test('a single value is replaced', () => {
  expect(mergePreferences({ timezone: 'UTC' }, { timezone: 'Europe/Dublin' })).toEqual({ timezone: 'Europe/Dublin' })
})

test('features cannot grow without bound', () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, true]))
  expect(() => mergePreferences({ features: many }, { features: { more: true } })).toThrow('features must come to at most 200 entries')
})
