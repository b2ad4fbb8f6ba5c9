import type { IngestAction } from '@dendro/api'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AddressDatabases } from '../../ingest-rules/address-databases.ts'
import { type AppliedRule, RuleCompiler } from '../../ingest-rules/ingest-rules.ts'
import { NO_SOURCES, RuleRun } from '../../ingest-rules/rule-run.ts'
import { RuleTime } from '../../ingest-rules/rule-time.ts'
import { type DatasetBatch, recordsOf } from '../batch.ts'
import { splitLines } from './lines.ts'
import { applyRules } from './ruled.ts'

const rule = (position: number, where: string, action: IngestAction): AppliedRule => ({
  id: `r${position}`,
  position,
  version: 1,
  where,
  action,
})

const rules = [
  rule(0, '', {
    type: 'REDACT',
    kinds: ['EMAIL', 'CARD_NUMBER', 'TOKEN'],
    expressions: [{ pattern: 'pass ?word=\\w+', ignore_case: true }],
    replacement: '***',
  }),
  rule(1, "level = 'debug'", { type: 'DROP' }),
  rule(2, "path = '/metrics' AND status = 200", { type: 'DROP' }),
  rule(3, "user = '***'", { type: 'SET_DATASET', dataset: 'others' }),
  rule(4, '', { type: 'REDACT', kinds: ['SECRET_KEY'], expressions: [], replacement: 'debug' }),
  rule(5, "'slow'", { type: 'ADD_FIELDS', fields: [{ name: 'slow', value: 'yes' }] }),
  rule(6, "message = 'debug'", { type: 'DROP' }),
]

const pad = 'nothing of interest here '.repeat(100)
const awsKey = 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12'

const compiler = new RuleCompiler()
const place = { collection: 'default', dataset: 'web' }
const common = { at: { ms: Date.UTC(2026, 10, 28), ns: 0 }, origin: '' }

/** What is left of a body, what has moved, and what the rules counted. */
function ruled(body: string) {
  const run = new RuleRun(new RuleTime(), NO_SOURCES, new AddressDatabases())
  const chain = compiler.of(rules, run)
  const batch: DatasetBatch = {
    collection: undefined,
    dataset: undefined,
    attributes: [],
    events: { kind: 'lines', bytes: Buffer.from(body) },
  }
  const { batch: left, moved } = applyRules(batch, { chain, run, place, open: new Set() }, { common, more: [] })
  const { dropped, acted } = chain.counts
  return { left: linesOf(left), moved: moved.flatMap((one) => linesOf(one.batch)), dropped, acted }
}

const linesOf = ({ events }: DatasetBatch): string[] =>
  events.kind === 'lines'
    ? Array.from(splitLines(events.bytes), (line) => Buffer.from(line).toString())
    : Array.from(recordsOf(events), ({ raw, keys }) => Buffer.from(raw).toString() + keys.map((pair) => ` ${pair.join('=')}`).join(''))

const line = fc.constantFrom(
  '{"level":"info","message":"all is well"}',
  '{"level":"debug","message":"all is well"}',
  '{"level":"d\\u0065bug","n":1}',
  '11-28 10:00:00.123  4711  4712 D Tag: text',
  '11-28 10:00:00.123  4711  4712 I Tag: text',
  '<15>Nov 28 10:00:00 web app[3]: from syslog',
  'mail to ann@example.org',
  '{"user":"ann@example.org"}',
  'paid with 4111 1111 1111 1111',
  'number 4111111111111112',
  'pass Password=secret',
  '{"path":"\\/metrics","status":200}',
  '{"path":"/metrics","status":404}',
  '{"trace":"slow query","n":7}',
  'a slow one',
  'é ſlow ü',
  '',
  '   ',
  'x'.repeat(300),
  // What a rule puts into a long line, and what is far from it, is seen by the rules behind.
  JSON.stringify({ a: pad, user: 'ann@example.org', b: pad }),
  JSON.stringify({ a: 'slow', b: pad, c: 'sk-abcdefghijklmnopqrstuv', d: pad }),
  JSON.stringify({ a: pad, message: 'sk-abcdefghijklmnopqrstuv', b: pad, c: 'bob@example.org' }),
  JSON.stringify({ aws_secret_access_key: awsKey, b: pad, c: 'sk-abcdefghijklmnopqrstuv' }),
  JSON.stringify({ a: 'task-abcdefghijklmnopqrstuv', text: JSON.stringify({ token: 'abcdefgh12', key: '\tsk-abcdefghijklmnopqrstuv' }) }),
  `{"a":"bob@example.org", aws_secret_key = ${awsKey} "b":"${pad}`,
  `{"a":"bob@example.org" ann@example.org "b":"4111 1111" 4111 1111 1111 1111`,
)

test('a long body is ruled as its lines are one by one', () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 60, maxLength: 120 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
      const whole = ruled(
        Array.from({ length: 4 }, () => lines)
          .flat()
          .join(end),
      )
      const each = lines.map((one) => ruled(one))
      const ofEach = Array.from({ length: 4 }, () => each).flat()
      expect(whole.left).toEqual(ofEach.flatMap(({ left }) => left))
      expect(whole.moved).toEqual(ofEach.flatMap(({ moved }) => moved))
      expect(whole.dropped).toBe(ofEach.reduce((sum, { dropped }) => sum + dropped, 0))
      for (const { id } of rules) expect(whole.acted.get(id) ?? 0).toBe(ofEach.reduce((sum, { acted }) => sum + (acted.get(id) ?? 0), 0))
    }),
    { numRuns: 60 },
  )
})

test('a body of several megabytes, and lines that are longer than what is searched at once', () => {
  const filler = 'nothing of interest here '.repeat(3)
  const body = [
    ...Array.from({ length: 30_000 }, (_, at) => (at % 1_000 === 999 ? 'by bob@example.org' : filler)),
    'y'.repeat(1_500_000),
    '{"level":"debug"}',
  ]
  const { left, dropped } = ruled(body.join('\n'))
  expect(dropped).toBe(1)
  expect(left).toHaveLength(30_001)
  expect(left.filter((one) => one === 'by ***')).toHaveLength(30)
})
