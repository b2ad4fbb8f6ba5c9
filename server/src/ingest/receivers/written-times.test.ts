import { expect, test } from 'vitest'
import { readValues } from '../../lines/reference/reference.ts'
import { recordsOf } from '../batch.ts'
import { arrivalOf } from '../intake/arrivals.ts'
import { receivers } from './receivers.ts'

const AT = { ms: Date.UTC(2026, 10, 21, 12), ns: 0 }
const base = { at: AT, attributes: [], origin: '', post: 0n }

function originalTime(path: string, body: string, type: string): string | undefined {
  const { pathname, searchParams } = new URL(path, 'http://ingest')
  const head = { path: pathname, query: Object.fromEntries(searchParams), headers: { 'content-type': type } }
  const receiver =
    receivers.find(({ claims }) => claims?.(head)) ??
    receivers.find(({ routes }) => routes.some(({ methods, tail }) => methods.includes('POST') && tail.test(pathname)))
  const { batches = [] } = receiver?.parse({ ...head, contentType: type, body: Buffer.from(body) }) ?? {}
  const [record] = batches.flatMap(({ events }) => [...recordsOf(events)])
  if (!record) throw new Error('there is no record')
  const { leaves, time } = readValues(record.raw, arrivalOf(record, base), {})
  expect(time).toEqual(AT)
  return leaves.get('$ingest.original_time')
}

const times = ['5', '253402300799999', '1.5', '"1999-05-01T00:00:00.5Z"', '"2026-12-24T00:00:00+01:00"', '"946684799"', '4102444800']
const written = (time: string) => time.replaceAll('"', '')

test.each([
  ['/api/v2/logs', (time: string) => `[{"message":"x","timestamp":${time}}]`],
  ['/services/collector', (time: string) => `{"event":"x","time":${time}}`],
  ['/gelf', (time: string) => `{"short_message":"x","timestamp":${time}}`],
  ['/log/v1', (time: string) => `[{"message":"x","timestamp":${time}}]`],
  ['/log/v1', (time: string) => `[{"common":{"timestamp":${time}},"logs":[{"message":"x"}]}]`],
  ['/logs/ingest?hostname=h', (time: string) => `{"lines":[{"line":"x","timestamp":${time}}]}`],
  ['/vercel', (time: string) => `[{"message":"x","timestamp":${time}}]`],
  ['/cloudflare', (time: string) => `{"EdgeStartTimestamp":${time}}`],
  ['/_bulk', (time: string) => `{"index":{"_index":"a"}}\n{"message":"x","@timestamp":${time}}\n`],
  ['/loki/api/v1/push', (time: string) => `{"streams":[{"stream":{},"values":[[${time},"x"]]}]}`],
])('a time that %s sends and that is not acceptable is kept as it is written', (path, bodyOf) => {
  // Digits are nanoseconds of Loki, whichever they are.
  for (const time of times) expect(originalTime(path, bodyOf(time), 'application/json'), time).toBe(written(time))
})

test('the time of raw lines and of a journal is kept as it is written', () => {
  expect(originalTime('/services/collector/raw?time=12.5', 'x', 'text/plain')).toBe('12.5')
  expect(originalTime('/upload', 'MESSAGE=x\n__REALTIME_TIMESTAMP=17\n\n', 'application/vnd.fdo.journal')).toBe('17')
})
