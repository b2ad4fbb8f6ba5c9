import { expect, test } from 'vitest'
import { notFound, unavailable } from '../kernel/errors.ts'
import { openLogger } from '../kernel/log.ts'
import { FailureLog } from './failure-log.ts'

/** Collects the lines that a log writes. */
function collecting() {
  const lines: Record<string, unknown>[] = []
  const log = openLogger('info', { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}
const fields = { correlation_id: 'c', action: 'health.get' }

test('an unavailable store is logged in one line without a stack, however many requests fail', () => {
  const { log, lines } = collecting()
  const failures = new FailureLog()
  for (let count = 0; count < 10_000; count += 1) {
    const failure = unavailable('the events store is down', { cause: new Error('connect ECONNREFUSED') })
    failures.note(log, failure, failure, fields)
  }
  expect(lines).toMatchObject([{ status: 503, reason: 'the events store is down', causes: ['connect ECONNREFUSED'], correlation_id: 'c' }])
  expect(JSON.stringify(lines)).not.toContain('    at ')
})

test('a bug has its stack once; the next ones keep their ids, and then they are counted', () => {
  const { log, lines } = collecting()
  const failures = new FailureLog()
  for (let count = 0; count < 10_000; count += 1)
    failures.note(log, new TypeError('x is not a function'), undefined, { ...fields, correlation_id: `${count}` })
  expect(lines).toHaveLength(20)
  expect(lines.map((line) => line.correlation_id)).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`))
  expect(lines.filter((line) => JSON.stringify(line).includes('failure-log.test'))).toHaveLength(1)
})

test('client errors are not logged', () => {
  const { log, lines } = collecting()
  new FailureLog().note(log, notFound('x'), notFound('x'), fields)
  expect(lines).toEqual([])
})

test('every log message is rate limited, also those of child loggers, except debug messages', () => {
  const { log, lines } = collecting()
  const child = log.child({ child: 'event engine' })
  for (let times = 0; times < 500; times += 1) child.warn({ times }, 'child does not answer')
  log.warn({}, 'another message')
  expect(lines).toHaveLength(21)
  expect(lines[0]).toMatchObject({ child: 'event engine', times: 0, msg: 'child does not answer' })
})
