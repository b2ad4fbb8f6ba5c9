import { expect, test } from 'vitest'
import { severityOf, severityOfWord } from './severity.ts'

const of = (leaves: Record<string, string>) => severityOf((path) => (Object.hasOwn(leaves, path) ? leaves[path] : undefined))

test.each([
  [{ level: 'INFO' }, 'info'],
  [{ level: 'Warning' }, 'warn'],
  [{ level: ' error ' }, 'error'],
  [{ severity: 'EMERGENCY' }, 'fatal'],
  [{ 'log.level': 'verbose' }, 'trace'],
  [{ levelname: 'CRITICAL' }, 'fatal'],
  [{ lvl: 'dbug', status: 'err' }, 'error'],
  [{ level: 'audit', severity: 'notice' }, 'info'],
  [{ level: '50', time: '1', msg: 'x' }, 'error'],
  [{ level: '10', time: '1', msg: '' }, 'trace'],
  [{ level: '50', time: '1' }, 'none'],
  [{ level: '55', time: '1', msg: 'x' }, 'none'],
  [{ status: '503' }, 'error'],
  [{ status: '404', level: 'info' }, 'info'],
  [{ 'http.status_code': '404' }, 'warn'],
  [{ status: '200', 'exception.type': 'E' }, 'info'],
  [{ status: '999' }, 'none'],
  [{ stack: 'at x' }, 'error'],
  [{ message: 'ERROR' }, 'none'],
  [{}, 'none'],
])('%j is %s', (leaves, severity) => {
  expect(of(leaves)).toBe(severity)
})

test('words of objects and endless words are no severity', () => {
  expect(['constructor', '__proto__', '', 'error'.repeat(1_000)].map(severityOfWord)).toEqual([undefined, undefined, undefined, undefined])
})
