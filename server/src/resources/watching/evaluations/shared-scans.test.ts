import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Actor } from '../../../http/actor.ts'
import { planMetrics } from '../../queries/timeseries/plan-metrics.ts'
import { groupIntoScans, type SeriesRequest, sourceKey, windowsKey } from './shared-scans.ts'

const END_MS = 1_795_262_400_000
const actorOf = (id: string): Actor => ({
  orgId: 'o',
  orgNumber: 1,
  identity: { type: 'API_KEY_ID', id },
  name: 'monitors',
  roles: [],
  permissions: new Set(),
  facts: { correlationId: '', action: '', address: '', userAgent: '', accept: '', baseUrl: '' },
})
const actors = ['one', 'two'].map(actorOf)

/** Series as monitors request them: some windows of one length, or several in a row. */
const asks: fc.Arbitrary<SeriesRequest> = fc
  .record({
    actor: fc.constantFrom(...actors),
    select: fc.constantFrom('count(*)', 'sum(ms)', 'max(ms)', 'p95(ms)', 'unique(user)'),
    where: fc.constantFrom('', 'level = error'),
    groups: fc.constantFrom<string[]>([], ['region']),
    lengthMs: fc.constantFrom(300_000, 900_000, 3_600_000),
    windows: fc.constantFrom(1, 1, 1, 10),
    toMs: fc.constantFrom(END_MS, END_MS - 300_000),
  })
  .map(({ actor, select, where, groups, lengthMs, windows, toMs }) => {
    const [query] = planMetrics([{ name: 'a', select: [select], from_expr: '*', where, groups }]).queries
    if (!query) throw new Error('no query')
    const series = { query, groups, isUsage: false, fromMs: toMs - windows * lengthMs, toMs, stepMs: lengthMs, windowMs: lengthMs }
    return { actor, datasets: [], series }
  })

test('series in one scan read the same events and groups, over equal windows or single windows with one end', () => {
  fc.assert(
    fc.property(fc.array(asks, { maxLength: 30 }), (requests) => {
      const scans = groupIntoScans(requests)
      expect(scans.flat().length).toBe(requests.length)
      expect(new Set(scans.flat())).toEqual(new Set(requests))
      for (const scan of scans) {
        expect(new Set(scan.map(sourceKey)).size).toBe(1)
        if (new Set(scan.map(({ series }) => windowsKey(series))).size === 1) continue
        expect(new Set(scan.map(({ series }) => series.toMs)).size).toBe(1)
        for (const { series } of scan) {
          expect(series.toMs - series.fromMs).toBe(series.windowMs)
          expect(['count', 'sum', 'max']).toContain(series.query.call.call.name)
        }
      }
    }),
  )
})

test('there are never more scans than questions over different windows, and one where single windows of several lengths are counted', () => {
  fc.assert(
    fc.property(fc.array(asks, { maxLength: 30 }), (requests) => {
      const different = new Set(requests.map((one) => `${sourceKey(one)} ${windowsKey(one.series)}`)).size
      expect(groupIntoScans(requests).length).toBeLessThanOrEqual(different)
      const isCounted = requests.every(
        ({ series }) => series.query.call.call.name === 'count' && series.windowMs === series.toMs - series.fromMs,
      )
      if (isCounted)
        expect(groupIntoScans(requests).length).toBe(new Set(requests.map((one) => `${sourceKey(one)} ${one.series.toMs}`)).size)
    }),
  )
})
