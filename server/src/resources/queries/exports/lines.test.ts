import { expect, test } from 'vitest'
import type { FoundEvent } from '../../../reading/query.ts'
import { ndjsonLine } from './lines.ts'

test('a line of NDJSON is one object whatever its keys and values are, and a key never hides a member of the service', () => {
  const leaves = [
    ['__proto__', 'p'],
    ['a "quoted"\n key', 'with\u2028 "quotes", \\ and \u0000'],
    ['dataset', 'of the sender'],
    ['@raw', 'of the sender'],
    ['half', '\ud800'],
    ['constructor', ''],
  ] as const
  const event: FoundEvent = {
    timeNs: 1_700_000_000_123_456_789n,
    seq: 18_446_744_073_709_551_615n,
    logId: '0192d2f0-0000-7000-8000-000000000001',
    severity: 'error',
    origin: '',
    skeleton: 0n,
    raw: Buffer.from('{"a":\n"b"}'),
    leaves: new Map(leaves),
  }
  const line = ndjsonLine(event, { collection: 'the "shop"', dataset: 'web' })
  expect(line.indexOf('\n')).toBe(line.length - 1)
  expect(line).toContain('"@sequence":18446744073709551615,')
  const entries = new Map(Object.entries(JSON.parse(line)))
  entries.delete('@sequence')
  expect(entries).toEqual(
    new Map<string, unknown>([
      ['@time', '2023-11-14 22:13:20.123 UTC'],
      ['@timestamp', 1_700_000_000_123],
      ['@raw', '{"a":\n"b"}'],
      ['@status', 'error'],
      ['dataset', 'web'],
      ['collection', 'the "shop"'],
      ['log_id', event.logId],
      ...leaves.filter(([key]) => key !== 'dataset' && key !== '@raw'),
    ]),
  )
})
