import { expect, test } from 'vitest'
import { eventsOf, groupValues } from './events-of.ts'

test('a group id is parsed into its values', () => {
  expect(groupValues('region:EU,host:100', ['region', 'host'])).toEqual(['EU', '100'])
  expect(groupValues('url:http://a,b,host:1', ['url', 'host'])).toEqual(['http://a,b', '1'])
  expect(groupValues('region:EU', ['region', 'host'])).toBe(undefined)
})

const queries = [{ from: ['x'], where: "level = 'error' OR level = 'fatal'", groups: ['region'] }]

test('a time span opens with the query and groups of the monitor, or for one group', () => {
  expect(eventsOf({ queries }, { fromMs: 1, toMs: 2 })).toEqual({
    d: ['x'],
    q: "level = 'error' OR level = 'fatal'",
    by: ['region'],
    f: 1,
    t: 2,
  })
  expect(eventsOf({ queries }, { fromMs: 1, toMs: 2 }, 'region:us')).toEqual({
    d: ['x'],
    q: "(level = 'error' OR level = 'fatal') AND \"region\" = 'us'",
    f: 1,
    t: 2,
  })
  expect(eventsOf({ queries: [{ from_expr: '*', where: '' }] }, { fromMs: 1, toMs: 2 })).toEqual({ f: 1, t: 2 })
})
