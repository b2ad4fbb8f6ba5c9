import type { ChangesReply, Finding } from '@dendro/api'
import { describe, expect, test } from 'vitest'
import { changesSummary } from './changes-summary.ts'
import { findingMonitorParams, thresholdOf } from './finding-monitor.ts'

const MINUTE_MS = 60_000
const START_MS = Date.UTC(2026, 10, 22, 23, 50)

const finding: Finding = {
  change: 'NEW',
  names: [{ key: 'status', value: '503', kind: 'VALUE', label: 'status = 503', where: 'status = 503' }],
  where: 'status = 503',
  count: 400,
  baseline_count: 0,
  share: 0.8,
  baseline_share: 0,
  lift: null,
  significance: 50,
  score: 2,
  shared: null,
  text: 'New: status = 503 in 400 events (80 %), none before.',
}
/** compared are 20 minutes that pass midnight, against the 40 before. */
const compared: ChangesReply = {
  range: { from_ts: START_MS, to_ts: START_MS + 20 * MINUTE_MS, count: 500 },
  baseline: { from_ts: START_MS - 40 * MINUTE_MS, to_ts: START_MS, count: 900 },
  summary: '',
  findings: [finding],
  groups: [{ findings: [0], shared: [] }],
  findings_total: 1,
  compared: [],
  skipped: [],
  is_sampled: false,
  cost: { rows: 0, bytes: 0, ms: 0 },
}
const query = { datasets: ['d1'], where: 'a = 1 OR b = 2', range: { words: 'Last 1 hour' }, refreshCount: 0 }

describe('a monitor from a finding', () => {
  test('watches the events of the finding within the query, with a name, a reason and a threshold', () => {
    expect(findingMonitorParams(finding, compared, query)).toEqual({
      edit: 'new',
      d: ['d1'],
      q: '(a = 1 OR b = 2) AND status = 503',
      r: 'Last 5 minutes',
      op: 'ABOVE',
      threshold: 7,
      name: 'High rate of status = 503',
      about: `${finding.text} Found in the events of 2026-11-22 23:50:00 to 2026-11-23 00:10:00 UTC.`,
    })
    const more = [
      { key: 'level', value: 'error', kind: 'VALUE' as const, label: 'level = error', where: "level = 'error'" },
      { key: '@status', value: 'error', kind: 'VALUE' as const, label: '@status = error', where: "@status = 'error'" },
    ]
    expect(
      findingMonitorParams({ ...finding, names: [...finding.names, ...more] }, compared, { ...query, where: 'status = 503' }),
    ).toMatchObject({
      q: "status = 503 AND level = 'error'",
      name: 'High rate of status = 503, level = error',
    })
    const drop = { ...finding, change: 'VANISHED' as const, count: 0, baseline_count: 80 }
    expect(findingMonitorParams(drop, compared, { ...query, datasets: undefined, where: '' })).toMatchObject({
      q: 'status = 503',
      op: 'BELOW',
      threshold: 2,
      name: 'Low rate of status = 503',
    })
  })

  test.each([
    { before: 0, now: 1, above: 0 },
    { before: 0, now: 100, above: 7 },
    { before: 10, now: 12, above: 11 },
    { before: 900, now: 40_000, above: 6_000 },
    { before: 3, now: 0, above: 1 },
    { before: 12, now: 10, above: 11 },
    { before: 40_000, now: 0, above: 140 },
  ])('has a threshold between $before before and $now now', ({ before, now, above }) => {
    expect(thresholdOf(before, now)).toBe(above)
  })
})

describe('a summary for the team', () => {
  test('has the time in UTC, the filter, the first findings and a link', () => {
    expect(changesSummary(compared, '', 'https://logs.example.org/app/explore').split('\n')).toEqual([
      'What changed, 2026-11-22 23:50:00 to 2026-11-23 00:10:00 UTC: 500 events, 900 in 2026-11-22 23:10:00 to 23:50:00 UTC',
      '1. New: status = 503 in 400 events (80 %), none before.',
      'https://logs.example.org/app/explore',
    ])
    const many = { ...compared, findings: Array.from({ length: 7 }, () => finding), findings_total: 30 }
    const lines = changesSummary(many, 'level = error', 'L').split('\n')
    expect(lines.slice(1, 2)).toEqual(['Filter: level = error'])
    expect(lines.slice(-3)).toEqual([`5. ${finding.text}`, '25 more: see the link.', 'L'])
    expect(changesSummary({ ...compared, findings: [], findings_total: 0 }, '', 'L')).toContain('Nothing stands out.')
  })
})
