import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Actor } from '../../../http/actor.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { planMetrics } from '../../queries/timeseries/plan-metrics.ts'
import { ScanSizes } from './scan-sizes.ts'
import { groupIntoScans, partKey, type SeriesRequest, sourceKey, windowsKey } from './shared-scans.ts'

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
      expect(scans.flat(2).length).toBe(requests.length)
      expect(new Set(scans.flat(2))).toEqual(new Set(requests))
      for (const scan of scans.flat()) {
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

const dataset = (id: string) => ({ id, collection: 'default', dataset: id }) as DatasetRow
const ofDatasets = fc
  .tuple(asks, fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 }))
  .map(([request, ids]) => ({
    ...request,
    datasets: ids.map(dataset),
  }))

test('parts of one scan have no dataset in common, and ask the same of theirs', () => {
  fc.assert(
    fc.property(fc.array(ofDatasets, { maxLength: 30 }), (requests) => {
      const scans = groupIntoScans(requests)
      expect(new Set(scans.flat(2))).toEqual(new Set(requests))
      for (const scan of scans) {
        const ids = scan.flatMap(([first]) => first?.datasets.map(({ id }) => id) ?? [])
        expect(new Set(ids).size).toBe(ids.length)
        const requested = scan.map((part) =>
          JSON.stringify([
            part[0]?.actor.identity.id,
            part[0]?.series.query.query.where,
            part[0]?.series.groups,
            [...new Set(part.map(({ series }) => `${series.query.call.call.name} ${windowsKey(series)}`))].sort(),
          ]),
        )
        expect(new Set(requested).size).toBe(1)
      }
    }),
  )
})

test('one question about each of many datasets is one scan, smaller ones after it has read too much, and the same again an hour later', () => {
  let nowMs = END_MS
  const [request] = fc.sample(asks, 1)
  if (!request) throw new Error('no request')
  const requests = Array.from({ length: 64 }, (_, index) => ({ ...request, datasets: [dataset(`d${index}`)] }))
  const sizes = new ScanSizes(() => nowMs)
  const lengths = () => groupIntoScans(requests, sizes).map((scan) => scan.length)
  expect(lengths()).toEqual([64])
  const [scan = []] = groupIntoScans(requests, sizes)
  sizes.note(scan.map(partKey), 64 * 20_000)
  expect(lengths()).toEqual([64])
  sizes.note(scan.map(partKey), Number.POSITIVE_INFINITY)
  expect(lengths()).toEqual(Array.from({ length: 8 }, () => 8))
  const [eight = []] = groupIntoScans(requests, sizes)
  sizes.note(eight.map(partKey), 10_000_000)
  expect(lengths().toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 8 }, () => 1), ...Array.from({ length: 7 }, () => 8)])
  nowMs += 3_600_001
  expect(lengths()).toEqual([64])
})
