import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import type { TimeRange } from '@dendro/language/time-range'
import type { DataFile } from '../ingest/data.ts'
import type { Service } from '../stand/service.ts'
import { postEvents } from './fill.ts'

/** Posts copies of the first lines of a file with their times spread over a range. */
export type PostNew = (range: TimeRange, count: number) => Promise<void>

const COPIED_LINES = 100
const POST_EVERY_MS = 200
const POST_EVENTS = 100

export async function newEventsOf({ file }: DataFile, service: Service): Promise<PostNew> {
  const events: Record<string, unknown>[] = []
  const lines = createInterface({ input: createReadStream(file) })
  for await (const line of lines) {
    events.push(JSON.parse(line))
    if (events.length === COPIED_LINES) break
  }
  return async ({ fromMs, toMs }, count) => {
    const body = Array.from({ length: count }, (_, at) =>
      JSON.stringify({ ...events[at % events.length], timestamp: Math.floor(fromMs + ((toMs - fromMs) * at) / count) }),
    )
    await postEvents(service, body.join('\n'), 'application/x-ndjson')
  }
}

/** Posts 500 events a second into a range until stopped, and returns the rate that it reached. */
export function startPosting(post: PostNew, range: TimeRange): { stop(): Promise<{ perS: number }> } {
  const startedMs = performance.now()
  let isStopped = false
  let posts = 0
  const posting = (async () => {
    while (!isStopped) {
      await post(range, POST_EVENTS)
      posts += 1
      await setTimeout(Math.max(0, startedMs + posts * POST_EVERY_MS - performance.now()))
    }
  })()
  // A failed post fails stop() instead of the program.
  posting.catch(() => undefined)
  return {
    stop: async () => {
      isStopped = true
      await posting
      return { perS: (posts * POST_EVENTS) / ((performance.now() - startedMs) / 1_000) }
    },
  }
}
