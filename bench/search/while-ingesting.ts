import { setTimeout } from 'node:timers/promises'
import { printTable } from '../stand/service.ts'
import type { ServiceAsUsed } from './as-used.ts'
import { type PostNew, startPosting } from './new-events.ts'
import type { BenchmarkQuery } from './queries.ts'
import { moved } from './ranges.ts'
import { searchOf } from './requests.ts'
import { medianMs, type Timed, timed } from './timing.ts'

const MINUTE_MS = 60_000
/** Several posts are stored meanwhile. */
const PAUSE_MS = 500
const QUERIES: readonly string[] = ['count by host', 'number by minute', 'newest 100']

/**
 * Runs queries while events arrive in the newest minute of their range: first, again, and a pause later, when the range has new events. That minute
 * begins a minute after the last event of the stand.
 */
export async function measureWhileIngesting(
  { service, send, place, nextRange }: ServiceAsUsed,
  post: PostNew,
  { queries, rounds }: { queries: readonly BenchmarkQuery[]; rounds: number },
): Promise<void> {
  const newest = { fromMs: place.toMs + MINUTE_MS, toMs: place.toMs + 2 * MINUTE_MS }
  const posting = startPosting(post, newest)
  const rows: string[][] = []
  for (const { name, body } of queries.filter((query) => QUERIES.includes(query.name))) {
    const times: [first: Timed, again: Timed, later: Timed][] = []
    for (let round = 0; round <= rounds; round += 1) {
      const range = moved({ fromMs: place.fromMs, toMs: newest.toMs }, nextRange().byMs)
      const search = () => timed(service.pid, () => send('POST', '/search', searchOf(place.logId, range, body)))
      const [first, again] = [await search(), await search()]
      await setTimeout(PAUSE_MS)
      times.push([first, again, await search()])
    }
    const counted = times.slice(1)
    rows.push([
      name,
      ...([0, 1, 2] as const).flatMap((at) => {
        const some = counted.map((round) => round[at])
        return [medianMs(some).toFixed(1), Math.max(...some.map(({ ms }) => ms)).toFixed(1)]
      }),
    ])
  }
  const { perS } = await posting.stop()
  printTable(
    [
      `query, while ${perS.toFixed(0)} events/s arrive`,
      'first, ms',
      'slowest',
      'again, ms',
      'slowest',
      `again after ${PAUSE_MS} ms, ms`,
      'slowest',
    ],
    rows,
  )
}
