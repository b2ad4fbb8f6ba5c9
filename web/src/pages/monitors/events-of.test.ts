import { expect, test } from 'vitest'
import { eventsOf, groupText, groupValues, seriesName } from './events-of.ts'

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
    q: "(level = 'error' OR level = 'fatal') AND region = 'us'",
    f: 1,
    t: 2,
  })
  const quoted = [{ where: '', groups: ['"user name"'] }]
  expect(eventsOf({ queries: quoted }, { fromMs: 1, toMs: 2 }, 'user name:ada').q).toBe(`"user name" = 'ada'`)
  expect(eventsOf({ queries: quoted }, { fromMs: 1, toMs: 2 }).by).toEqual(['user name'])
  expect(eventsOf({ queries: [{ from_expr: '*', where: '' }] }, { fromMs: 1, toMs: 2 })).toEqual({ f: 1, t: 2 })
})

test('a group is shown with (none) for a missing value, and its series as on dashboards', () => {
  const of = { queries: [{ where: '', groups: ['region', 'host'] }] }
  expect([groupText(of, 'region:EU,host:null'), seriesName(of, 'region:EU,host:null')]).toEqual(['region:EU,host:(none)', 'EU · (none)'])
  expect([groupText(of, 'pattern 1'), seriesName(of, 'pattern 1')]).toEqual(['pattern 1', 'pattern 1'])
})
