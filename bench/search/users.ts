import type { TimeRange } from '@dendro/language/time-range'
import { median, printTable } from '../stand/service.ts'
import type { BenchmarkQuery } from './queries.ts'
import { type Send, searchOf } from './requests.ts'
import { mean } from './timing.ts'

const CONCURRENT_FACTOR = 4
/** One user runs this multiple of the rounds of each of many, so that the p95 is not that of one slow query. */
const SINGLE_FACTOR = 5
const USER_QUERIES: readonly string[] = ['newest 100', 'newest 100, two values', 'count by level', 'trace id', 'number by minute']

export type UsersSetting = { logId: string; users: number; rounds: number; nextRange(): TimeRange }

/** The duration of each query of one user, who sends the next one after the response. */
type RunUser = (key: string, rounds: number) => Promise<number[]>

/**
 * Lets one user run a mixture of queries, and then many at once, each with a key of their own: first on ranges that nobody requests twice, then all on
 * the same range.
 */
export async function measureUsers(send: Send, queries: readonly BenchmarkQuery[], setting: UsersSetting): Promise<void> {
  const mixture = queries.filter(({ name }) => USER_QUERIES.includes(name))
  if (mixture.length === 0) return
  const { logId, users, rounds, nextRange } = setting
  const keys: string[] = []
  for (let user = 0; user <= users; user += 1) {
    const answer = await send('POST', '/api-keys', { name: `user ${user}`, roles: ['SearchApi'] })
    keys.push((JSON.parse(answer) as { key: string }).key)
  }
  const oneShared = nextRange()
  const rows: string[][] = []
  for (const [ranges, rangeOf] of [['of their own', nextRange] as const, ['shared', () => oneShared] as const]) {
    const run: RunUser = async (key, times) => {
      const took: number[] = []
      for (let round = 0; round < times; round += 1) {
        for (const { body } of mixture) {
          const startedMs = performance.now()
          await send('POST', '/search', searchOf(logId, rangeOf(), body), key)
          took.push(performance.now() - startedMs)
        }
      }
      return took
    }
    rows.push(...(await measureRanges(ranges, run, keys, rounds)))
  }
  printTable(
    [
      'users at once',
      'ranges',
      'p50 ms',
      'p95 ms',
      'p95 to that of one',
      `wanted ≤ ${CONCURRENT_FACTOR}`,
      'slowest to fastest user (wanted ≤ 2)',
    ],
    rows,
  )
}

async function measureRanges(
  ranges: string,
  run: RunUser,
  [first = '', ...others]: readonly string[],
  rounds: number,
): Promise<string[][]> {
  await run(first, 1)
  const single = await run(first, rounds * SINGLE_FACTOR)
  const each = await Promise.all(others.map((key) => run(key, rounds)))
  const many = each.flat()
  const means = each.map(mean)
  const factor = p95(many) / p95(single)
  return [
    ['1', ranges, median(single).toFixed(1), p95(single).toFixed(1), '1', '', ''],
    [
      String(others.length),
      ranges,
      median(many).toFixed(1),
      p95(many).toFixed(1),
      factor.toFixed(2),
      factor <= CONCURRENT_FACTOR ? 'yes' : 'NO',
      (Math.max(...means) / Math.min(...means)).toFixed(2),
    ],
  ]
}

const p95 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN
