import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Logger } from '../../kernel/log.ts'
import { forwardEngineLog } from './engine-log.ts'

test('engine log lines are logged with level, source and text as fields', async () => {
  const { written, log } = keptLog()
  const stream = Readable.from([
    '2026.11.21 09:09:30.264053 [ 4740 ] {} <Warning> Pool/Sub: it is: late\n2026.11.21 09:09:30.276259 [ 4741 ] {ab-1} <Error> MergeTree (x): Code: 9. bad\n\n0. ? @ 0x01\n',
    ' (version 26.7.2.1)\n2026.11.21 09:09:30.2 [ 1 ] {} <Fatal> Base: gone\n2026.11.21 09:09:30.2 [ 1 ] {} <Trace> Base: chatter\n',
    '2026.11.21 09:09:30.2 [ 1 ] {} <Error> void DB::SendHTTP(int): Broken pipe\n2026.11.21 09:09:30.2 [ 1 ] {} <Warning> MergeMutateSelectedEntry: not finalized\n2026.11.21 09:09:30.2 [ 1 ] {} <Fatal> Base: 11. ? @ 0x02\n',
    'Code: 76. DB::Exception: plain words\n',
  ])
  const engineLog = forwardEngineLog(stream, log, fail)
  await engineLog.ended
  expect(written).toEqual([
    ['warn', { source: 'Pool/Sub', text: 'it is: late' }],
    ['error', { source: 'MergeTree (x)', query_id: 'ab-1', text: 'Code: 9. bad' }],
    ['error', { source: 'Base', text: 'gone' }],
    ['debug', { source: 'Base', text: 'chatter' }],
    ['debug', { source: 'void DB::SendHTTP(int)', text: 'Broken pipe' }],
    ['debug', { source: 'MergeMutateSelectedEntry', text: 'not finalized' }],
    ['warn', { text: 'Code: 76. DB::Exception: plain words' }],
  ])
  expect(engineLog.lastWords()).toContain('Code: 76')
})

test('memory for an endless line is bounded', async () => {
  const { written, log } = keptLog()
  const engineLog = forwardEngineLog(Readable.from([`${'x'.repeat(100_000)}\n`]), log, fail)
  await engineLog.ended
  expect(JSON.stringify(written).length).toBeLessThan(2_000)
  expect(engineLog.lastWords().length).toBeLessThan(5_000)
})

test('a failed sync is recognized', async () => {
  let failures = 0
  const stream = Readable.from([
    '2026.11.21 09:09:30.2 [ 1 ] {} <Error> SyncGuard: Code: 204. DB::Exception: Cannot fdatasync. (CANNOT_FSYNC), Stack trace:\n',
  ])
  await forwardEngineLog(stream, keptLog().log, () => {
    failures += 1
  }).ended
  expect(failures).toBe(1)
})

const fail = () => {
  throw new Error('no sync failed')
}

/** Records level and fields. Like the real log it drops undefined fields. */
function keptLog() {
  const written: [string, unknown][] = []
  const keep = (level: string) => (fields: unknown) => void written.push([level, JSON.parse(JSON.stringify(fields))])
  const log = Object.fromEntries(['trace', 'debug', 'info', 'warn', 'error'].map((level) => [level, keep(level)]))
  return { written, log: log as unknown as Logger }
}
